"""Trying a rule on a real record: it shows everything, sends and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.config import Config
from tasks.models import (
    AuditEntry,
    Base,
    Booking,
    BookingStatus,
    Episode,
    OfCongregation,
    Podcast,
)
from tasks.operations.rule_tests import TESTS_MAX
from tasks.secrets import SecretBox, new_webhook_secret
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.hook_sink import HookSink
from tests.support.smtp_sink import SmtpSink


@pytest.fixture
def smtp(smtp_sink: SmtpSink) -> SmtpSink:
    return smtp_sink


@pytest.fixture
def config(
    sqlite_engine: Engine, tmp_path: Path, smtp: SmtpSink, hook_sink: HookSink
) -> Config:
    """Return the settings of a console whose mail server is the test's."""
    return Config.from_environ(
        {
            "VAR_DIR": str(tmp_path / "var"),
            "DATABASE_URL": sqlite_engine.url.render_as_string(hide_password=False),
            "BASE_URL": "http://localhost",
            "SMTP_URL": smtp.url,
            "WEBHOOK_ALLOW": "127.0.0.0/8",
            "WEBHOOK_HTTP": "true",
            "WEBHOOK_PORTS": str(urlsplit(hook_sink.url("/")).port),
        }
    )


@pytest.fixture
def session(sqlite_engine: Engine) -> Iterator[Session]:
    with Session(sqlite_engine, expire_on_commit=False) as session:
        yield session


@pytest.fixture
def of(session: Session) -> UUID:
    id_ = factories.congregation(session, timezone="America/New_York")
    start = utcnow() + timedelta(days=3)
    factories.booking(session, id_, start_time=start)
    session.commit()
    return id_


def rule(session: Session, of: UUID, **values: Any) -> str:
    made = factories.rule(session, of, **values)
    session.commit()
    return f"/rules/{made.id}/try"


def words(text: str) -> str:
    return " ".join(BeautifulSoup(text, "html.parser").get_text(" ").split())


def rows(session: Session) -> dict[str, list[str]]:
    session.rollback()
    return {
        mapper.local_table.name: sorted(
            map(repr, session.execute(select(mapper.local_table)))
        )
        for mapper in Base.registry.mappers
        if issubclass(mapper.class_, OfCongregation) or mapper.class_ is AuditEntry
    }


def test_records_are_found_by_name_address_or_id(
    as_viewer: Browser, session: Session, of: UUID
) -> None:
    path = rule(session, of)
    factories.booking(session, of, id="b2", guest_name="100% Ada")
    session.add(Podcast(congregation_id=of, id="other", title="Other"))
    session.flush()
    factories.booking(session, of, id="b3", podcast_id="other", guest_name="Ada Else")
    session.commit()
    assert "100% Ada" in as_viewer.get(f"{path}?q=0%25 ada").text
    for text, is_found in (("joerg@", True), ("b1", True), ("_", False)):
        page = as_viewer.get(path, query_string={"q": text}).text
        assert ("record=booking/b1" in page) is is_found, text
    only = rule(session, of, podcast_id="show", name="Only here")
    assert "Ada Else" not in as_viewer.get(f"{only}?q=ada").text
    assert "Nothing is called so." in as_viewer.get(f"{path}?q=zzz").text


def test_a_trial_shows_recipient_message_times_and_the_guards_verdict(
    as_viewer: Browser, session: Session, of: UUID
) -> None:
    settings = factories.EMAIL_SETTINGS | {"html": "<p>Hi {{ guest.name }}</p>"}
    path = rule(session, of, settings=settings)
    before = rows(session)
    page = as_viewer.get(f"{path}?record=booking/b1")
    assert page.status_code == 200
    text = words(page.text)
    for piece in (
        "joerg@example.org",
        "Hello Jörg 🎙",
        "Europe/Berlin",
        "Your clock",
        "It would go out as soon as “Booking confirmed” is reported.",
    ):
        assert piece in text
    frame = BeautifulSoup(page.text, "html.parser").select_one("iframe[sandbox]")
    assert frame is not None
    mail = as_viewer.get(str(frame["src"]))
    assert "<p>Hi Jörg 🎙</p>" in mail.text
    assert "sandbox" in mail.headers["Content-Security-Policy"]
    assert rows(session) == before


def test_a_trial_says_what_would_stop_it(
    as_viewer: Browser, session: Session, of: UUID
) -> None:
    path = rule(session, of, enabled=False)
    assert "It would be stopped. The rule is switched off." in words(
        as_viewer.get(f"{path}?record=booking/b1").text
    )
    path = rule(session, of)
    session.get_one(Booking, (of, "b1")).status = BookingStatus.CANCELLED
    session.commit()
    assert "It would be stopped. The booking was cancelled." in words(
        as_viewer.get(f"{path}?record=booking/b1").text
    )


def test_a_condition_that_does_not_hold_is_told_with_what_was_seen(
    as_viewer: Browser, session: Session, of: UUID
) -> None:
    wanted = {"field": "booking.guest_name", "operator": "is", "value": "Ada"}
    path = rule(session, of, conditions={"rows": [wanted]})
    text = words(as_viewer.get(f"{path}?record=booking/b1").text)
    assert "Wanted: booking.guest_name is “Ada”. Seen: “Jörg 🎙”." in text


def test_a_reminder_shows_its_own_time_or_why_it_has_none(
    as_viewer: Browser, session: Session, of: UUID
) -> None:
    reminder = factories.reminder(session, of)
    late = factories.reminder(session, of, offset_value=999)
    session.commit()
    page = words(as_viewer.get(f"/rules/{reminder.id}/try?record=booking/b1").text)
    assert "It would go out." in page
    assert "It counts from" in page
    page = words(as_viewer.get(f"/rules/{late.id}/try?record=booking/b1").text)
    assert "Planned now, it would not go out. The time to do this had already" in page
    session.get_one(Booking, (of, "b1")).status = BookingStatus.REQUESTED
    session.commit()
    page = words(as_viewer.get(f"/rules/{reminder.id}/try?record=booking/b1").text)
    assert "It would be stopped. The booking is not confirmed." in page


def test_a_message_that_cannot_be_made_says_why(
    as_operator: Browser, session: Session, of: UUID, smtp: SmtpSink
) -> None:
    settings = factories.EMAIL_SETTINGS | {"text": "{{ booking.meeting_url }}"}
    path = rule(session, of, settings=settings)
    page = as_operator.get(f"{path}?record=booking/b1").text
    assert "needs booking.meeting_url, which is missing" in page
    assert "Send a test" not in page
    answer = as_operator.post(
        f"{path}/send", data={"record": "booking/b1"}, follow_redirects=True
    )
    assert "There is nothing to send: " in answer.text
    assert smtp.mails == []


def test_a_test_goes_to_the_operator_alone_and_is_written_down(
    as_operator: Browser, session: Session, of: UUID, smtp: SmtpSink
) -> None:
    path = rule(session, of)
    answer = as_operator.post(
        f"{path}/send",
        data={"record": "booking/b1", "to": "else@example.org"},
        follow_redirects=True,
    )
    assert "The test was sent to operator@example.org." in answer.text
    [mail] = smtp.wait_for(1)
    assert mail.recipients == ["operator@example.org"]
    assert mail.subject == "[TEST] Hello Jörg 🎙"
    assert mail.text.startswith("[TEST] ")
    assert "List-Unsubscribe" not in mail.message
    entry = session.scalars(select(AuditEntry).filter_by(action="rule.tested")).one()
    assert entry.actor == "operator@example.org"
    assert "“Welcome”, made from Jörg 🎙" in entry.summary


def test_a_webhook_is_tested_with_a_mark_in_its_type(
    as_operator: Browser,
    session: Session,
    of: UUID,
    hook_sink: HookSink,
    config: Config,
) -> None:
    path = rule(
        session,
        of,
        action="webhook",
        settings={"url": hook_sink.url("/hook")},
        secret=SecretBox(config.secret_key).seal(new_webhook_secret()),
    )
    page = as_operator.get(f"{path}?record=booking/b1").text
    assert "Send a test to the rule&#39;s own webhook" in page
    answer = as_operator.post(
        f"{path}/send", data={"record": "booking/b1"}, follow_redirects=True
    )
    assert "The test was sent to the rule&#39;s own webhook." in answer.text
    [hook] = hook_sink.wait_for(1)
    assert hook.json["type"] == "test.booking.confirmed"
    assert hook.json["test"] is True


def test_tests_are_limited_and_a_broken_mail_server_is_told(
    as_operator: Browser, session: Session, of: UUID, smtp: SmtpSink
) -> None:
    path = rule(session, of)
    smtp.stop()
    send = {"record": "booking/b1"}
    answers = [
        as_operator.post(f"{path}/send", data=send, follow_redirects=True).text
        for _ in range(TESTS_MAX + 1)
    ]
    assert "The test could not be sent: " in answers[0]
    assert "You have sent 10 tests within an hour" in answers[-1]
    entries = session.scalars(select(AuditEntry).filter_by(action="rule.tested"))
    assert len(entries.all()) == TESTS_MAX


def test_a_viewer_may_look_but_not_send(
    as_viewer: Browser, session: Session, of: UUID, smtp: SmtpSink
) -> None:
    path = rule(session, of)
    assert "Send a test" not in as_viewer.get(f"{path}?record=booking/b1").text
    answer = as_viewer.post(f"{path}/send", data={"record": "booking/b1"})
    assert answer.status_code == 403
    assert smtp.mails == []


@pytest.mark.parametrize(
    ("record", "status"),
    [
        ("", 400),
        ("booking", 404),
        ("moon/b1", 400),
        ("booking/nope", 404),
        ("booking/%00", 404),
        ("guest/b1", 404),
    ],
)
def test_a_record_that_is_none_is_refused_in_words(
    as_operator: Browser, session: Session, of: UUID, record: str, status: int
) -> None:
    path = rule(session, of)
    for answer in (
        as_operator.get(f"{path}?record={record}"),
        as_operator.get(f"{path}/mail?record={record}"),
        as_operator.post(f"{path}/send?record={record}"),
    ):
        assert answer.status_code == status
        assert "Something broke" not in answer.text
    assert as_operator.get(f"{path}/mail?record=booking/b1&step=7").status_code == 404


def test_every_step_of_a_rule_is_shown_at_its_own_time(
    as_viewer: Browser, session: Session, of: UUID
) -> None:
    step = {
        "number": 1,
        "delay": 2 * 24 * 60,
        "action": "email",
        "settings": factories.EMAIL_SETTINGS | {"subject": "Two days later"},
        "max_attempts": 5,
    }
    path = rule(session, of, steps=[step], n_steps=1)
    page = as_viewer.get(f"{path}?record=booking/b1").text
    assert "Two days later" in page
    assert 'id="step-0"' in page
    assert 'id="step-1"' in page


def test_an_episode_is_tried_with_rules_about_episodes(
    as_viewer: Browser, session: Session, of: UUID
) -> None:
    evil = "<script>alert(1)</script>"
    session.add(Episode(congregation_id=of, id="e1", podcast_id="show", title=evil))
    session.flush()
    settings = factories.EMAIL_SETTINGS | {
        "recipient": "host",
        "subject": "{{ episode.title }}",
        "text": "Out.",
    }
    path = rule(session, of, trigger_type="episode.published", settings=settings)
    page = as_viewer.get(f"{path}?record=episode/e1").text
    assert "ines@example.org" in page
    assert evil not in page
    assert "record=booking/b1" not in page
