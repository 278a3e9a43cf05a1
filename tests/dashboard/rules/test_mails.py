"""What the form of a rule says about its mail's look, calendar file and way out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from bs4 import Tag
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from tasks.clock import utcnow
from tasks.models import ExecutionMessage, Rule
from tests.dashboard.conftest import Browser
from tests.dashboard.rules.conftest import soup
from tests.support import factories

SWITCHES = ("look", "calendar", "transactional")


def mail(of: UUID, **values: Any) -> dict[str, Any]:
    return {
        "scope": str(of),
        "name": "Welcome",
        "trigger_type": "booking.confirmed",
        "action": "email",
        "recipient": "guest",
        "subject": "Hello",
        "text": "Dear {{ guest.name }}",
        "html": "",
        "max_attempts": "5",
        "retry_first_seconds": "30",
        "retry_longest_minutes": "360",
        "rate_window_minutes": "60",
        "version": "1",
        **values,
    }


def checked(answer: TestResponse) -> dict[str, bool]:
    page = soup(answer)
    boxes = {name: page.select_one(f"#{name}") for name in SWITCHES}
    assert all(isinstance(box, Tag) for box in boxes.values())
    return {
        name: box is not None and box.has_attr("checked") for name, box in boxes.items()
    }


def settings_of(engine: Engine) -> dict[str, Any]:
    with Session(engine) as session:
        return session.scalars(select(Rule)).one().settings


def test_a_new_mail_begins_in_the_built_in_look(
    as_operator: Browser, house: UUID
) -> None:
    assert checked(as_operator.get("/rules/new")) == {
        "look": True,
        "calendar": False,
        "transactional": False,
    }


def test_an_older_rule_stays_as_plain_as_it_is(
    as_operator: Browser, house: UUID, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule_id = factories.rule(session, house).id
    page = as_operator.get(f"/rules/{rule_id}/edit")
    assert not any(checked(page).values())


def test_what_is_switched_on_is_kept_shown_and_taken_back(
    as_operator: Browser, house: UUID, sqlite_engine: Engine
) -> None:
    on = dict.fromkeys(SWITCHES, "y")
    answer = as_operator.post("/rules/", data=mail(house, **on))
    assert answer.status_code == 303, soup(answer).text
    assert all(settings_of(sqlite_engine)[name] is True for name in SWITCHES)
    path = answer.headers["Location"]
    assert "with the booking’s calendar file" in soup(as_operator.get(path)).text
    assert all(checked(as_operator.get(f"{path}/edit")).values())

    answer = as_operator.post(path, data=mail(house))
    assert answer.status_code == 303, soup(answer).text
    assert not set(SWITCHES) & settings_of(sqlite_engine).keys()


def test_a_calendar_file_needs_a_booking(as_operator: Browser, house: UUID) -> None:
    data = mail(
        house,
        trigger_type="episode.published",
        recipient="host",
        text="x",
        calendar="y",
    )
    answer = as_operator.post("/rules/", data=data)
    assert answer.status_code == 422
    assert "Only mails about bookings can bring a calendar file." in soup(answer).text


def test_html_alone_is_enough(as_operator: Browser, house: UUID) -> None:
    assert as_operator.post("/rules/", data=mail(house, text="")).status_code == 422
    answer = as_operator.post("/rules/", data=mail(house, text="", html="<p>Hi</p>"))
    assert answer.status_code == 303


def test_the_preview_shows_the_mail_as_it_arrives(
    as_operator: Browser, house: UUID
) -> None:
    data = mail(house, look="y", calendar="y", sample="b1")
    shown = soup(as_operator.post("/rules/preview", data=data)).text
    frame = as_operator.post("/rules/preview/mail", data=data)

    assert "Kirchplatz: Recording" in shown
    html = frame.get_data(as_text=True)
    assert "St. Bonifatius" in html
    assert "<p>Dear Jörg 🎙</p>" in html
    assert "Unsubscribe" in html
    assert "sandbox" in frame.headers["Content-Security-Policy"]

    own = mail(house, html="<p>{{ guest.name }}</p>", transactional="y", sample="b1")
    frame = as_operator.post("/rules/preview/mail", data=own)
    assert frame.get_data(as_text=True) == "<p>Jörg 🎙</p>"


def test_an_execution_shows_its_mail_in_the_look(
    as_operator: Browser, house: UUID, sqlite_engine: Engine
) -> None:
    message = {
        "to": "joerg@example.org",
        "subject": "Hello",
        "text": "Dear Jörg",
        "html": "",
        "look": {"sender": "St. Bonifatius"},
        "optional": True,
        "calendar": {
            "summary": "Bells: Recording",
            "revision": 4,
            "status": "confirmed",
        },
    }
    with Session(sqlite_engine) as session, session.begin():
        execution = factories.execution(session, factories.rule(session, house))
        session.add(
            ExecutionMessage(
                congregation_id=house,
                execution_id=execution.id,
                message=message,
                composed_at=utcnow(),
            )
        )
        path = f"/executions/{execution.id}"

    assert "Bells: Recording, version 4 (confirmed)" in soup(as_operator.get(path)).text
    html = as_operator.get(f"{path}/html").get_data(as_text=True)
    assert "<p>Dear Jörg</p>" in html
    assert 'href="#unsubscribe"' in html
