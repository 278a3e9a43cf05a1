"""One's own account: by which clock the pages tell times."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest
from flask import Flask, g, render_template_string
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.filters import absolute, relative, shortly
from dashboard.operators.models import Operator
from tasks.models import AuditEntry
from tests.conftest import NOW
from tests.dashboard.conftest import PASSWORD, Browser


def zone_of(engine: Engine, email: str) -> str | None:
    with Session(engine) as session:
        return session.scalar(select(Operator.timezone).filter_by(email=email))


def test_the_browser_s_clock_is_taken_at_the_first_login_only(
    client: Browser, add_operator: Callable[..., str], sqlite_engine: Engine
) -> None:
    email = add_operator("viewer")
    seen = []
    for zone in ("Atlantis/Main", "Europe/Paris", "Asia/Tokyo"):
        client.learn_token()
        form = {"email": email, "password": PASSWORD, "timezone": zone}
        assert client.post("/login", data=form).status_code == 302
        client.learn_token("/account/")
        client.post("/logout")
        seen.append(zone_of(sqlite_engine, email))

    assert seen == [None, "Europe/Paris", "Europe/Paris"]


def test_operators_choose_their_clock_themselves(
    as_viewer: Browser, sqlite_engine: Engine
) -> None:
    before = as_viewer.get("/account/").get_data(as_text=True)
    answer = as_viewer.post("/account/", data={"timezone": " America/New_York "})
    after = as_viewer.get("/account/").get_data(as_text=True)

    assert 'value="UTC"' in before
    assert answer.status_code == 303
    assert 'value="America/New_York"' in after
    assert any(sign in after for sign in (" EST<", " EDT<"))
    with Session(sqlite_engine) as session:
        done = session.scalars(select(AuditEntry.action)).all()
    assert "operator.reading_set" in done


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../etc/passwd", "x" * 5000, "\x00"])
def test_a_clock_that_does_not_exist_is_refused_in_words(
    as_viewer: Browser, zone: str
) -> None:
    answer = as_viewer.post("/account/", data={"timezone": zone})

    assert answer.status_code == 422
    assert "There is no timezone" in answer.get_data(as_text=True)


def test_times_are_told_by_one_s_own_clock(app: Flask) -> None:
    source = (
        "{% from 'components/time.html' import moment %}{{ moment(at) }}"
        "{{ at | shortly }}"
    )
    with app.test_request_context():
        g.own_zone = ZoneInfo("Asia/Tokyo")
        html = render_template_string(source, at=NOW)
        words = absolute(NOW), shortly(NOW)
        long_ago = relative(NOW.replace(year=2020, hour=20), NOW)
        g.own_zone = ZoneInfo("America/Sao_Paulo")
        without_letters = absolute(NOW)

    assert words[0].endswith("JST")
    assert words[0] in html
    assert words[1] in html
    assert long_ago == f"{NOW.day + 1} {NOW:%b} 2020"
    assert without_letters.endswith("UTC-03")
    assert absolute(NOW).endswith("UTC")


def test_pages_are_said_in_the_language_of_the_operator(as_viewer: Browser) -> None:
    asked = {"Accept-Language": "fr-CH, fr;q=0.9, en;q=0.8"}
    of_the_browser = as_viewer.get("/account/", headers=asked).get_data(as_text=True)
    as_viewer.post("/account/", data={"timezone": "UTC", "language": "en"})
    chosen = as_viewer.get("/account/", headers=asked).get_data(as_text=True)

    assert '<html lang="fr">' in of_the_browser
    assert "<h1>Votre compte</h1>" in of_the_browser
    assert '<html lang="en">' in chosen
    assert "<h1>Your account</h1>" in chosen


def test_a_language_that_does_not_exist_is_refused(as_viewer: Browser) -> None:
    given = {"timezone": "UTC", "language": "tlh"}
    answer = as_viewer.post("/account/", data=given)

    assert answer.status_code == 422
    assert "Choose a language from the list." in answer.get_data(as_text=True)


def test_the_answer_to_a_choice_is_in_the_chosen_language(as_viewer: Browser) -> None:
    as_viewer.post("/account/", data={"timezone": "Europe/Paris", "language": "fr"})
    page = as_viewer.get("/account/").get_data(as_text=True)

    assert "L’heure affichée est celle de Europe/Paris." in page
