"""A confirmed booking ends in a real mail, a signed webhook and a reminder."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from sqlalchemy import select
from standardwebhooks import Webhook

from tasks.config import Config
from tasks.db import sessions
from tasks.models import (
    Execution,
    ExecutionState,
    JobState,
    Reason,
    Rule,
    ScheduledJob,
)
from tasks.secrets import SecretBox, new_webhook_secret
from tests.acceptance.conftest import Installation
from tests.support import factories
from tests.support.processes import until, worker

#: Whole seconds: what the API is told is what it keeps.
START = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)


def _rules(installation: Installation) -> str:
    secret = new_webhook_secret()
    box = SecretBox(Config.from_environ(installation.environ).secret_key)
    with sessions(installation.engine).begin() as session:
        factories.rule(
            session,
            installation.tenant,
            settings=factories.EMAIL_SETTINGS
            | {"text": "Grüße an {{ guest.name }}", "html": "<p>{{ guest.name }}</p>"},
        )
        factories.rule(
            session,
            installation.tenant,
            name="Tell the site",
            action="webhook",
            settings={"url": installation.hooks.url("/hook")},
            secret=box.seal(secret),
        )
        factories.reminder(session, installation.tenant)
    return secret


def _book(installation: Installation, start: datetime = START) -> None:
    installation.call(
        "PUT",
        "/bookings/b1",
        {
            "podcast_id": "show",
            "guest_name": "Jörg Müßig 🎙",
            "guest_email": "joerg@example.org",
            "start_time": start.isoformat(),
            "timezone": "Europe/Berlin",
        },
    )


def _jobs(installation: Installation, state: JobState) -> list[ScheduledJob]:
    with sessions(installation.engine)() as session:
        return list(
            session.scalars(select(ScheduledJob).where(ScheduledJob.state == state))
        )


def _execution_of(installation: Installation, action: str) -> Execution:
    with sessions(installation.engine)() as session:
        return session.scalars(
            select(Execution).join(Rule).where(Execution.action == action)
        ).one()


def test_a_confirmation_is_mailed_posted_and_planned(
    installation: Installation,
) -> None:
    secret = _rules(installation)
    _book(installation)
    with worker(installation.environ):
        installation.call("POST", "/bookings/b1/confirm")
        [mail] = installation.mails.wait_for(1, 30)
        [hook] = until(lambda: list(installation.hooks.requests), 30)

        assert mail.subject == "Hello Jörg Müßig 🎙"
        words, _, footer = mail.text.replace("\r\n", "\n").partition("\n-- \n")
        assert words.strip() == "Grüße an Jörg Müßig 🎙"
        assert footer.startswith("Unsubscribe: http")
        assert "<p>Jörg Müßig 🎙</p>" in mail.html
        execution = _execution_of(installation, "email")
        assert str(execution.id) in str(mail.message["Message-ID"])

        Webhook(secret).verify(hook.body, hook.headers)
        posted = _execution_of(installation, "webhook")
        assert hook.headers["webhook-id"] == str(posted.id)
        assert hook.json["type"] == "booking.confirmed"

        [reminder] = _jobs(installation, JobState.PENDING)
        assert reminder.due_at == START - timedelta(hours=24)

        def all_succeeded() -> bool:
            with sessions(installation.engine)() as session:
                states = set(session.scalars(select(Execution.state)))
            return states == {ExecutionState.SUCCEEDED}

        until(all_succeeded)


def test_rescheduling_moves_the_reminder_and_cancelling_cancels_it(
    installation: Installation,
) -> None:
    _rules(installation)
    _book(installation)
    with worker(installation.environ):
        installation.call("POST", "/bookings/b1/confirm")
        installation.mails.wait_for(1)
        until(lambda: len(installation.hooks.requests) == 1)

        moved = START + timedelta(days=1)
        installation.call(
            "POST", "/bookings/b1/reschedule", {"start_time": moved.isoformat()}
        )
        [living] = _jobs(installation, JobState.PENDING)
        assert living.due_at == moved - timedelta(hours=24)
        [old] = _jobs(installation, JobState.SUPERSEDED)
        assert old.due_at == START - timedelta(hours=24)

        installation.call("POST", "/bookings/b1/cancel")
        assert _jobs(installation, JobState.PENDING) == []
        [cancelled] = _jobs(installation, JobState.CANCELLED)
        assert cancelled.reason is Reason.BOOKING_CANCELLED
        time.sleep(1.5)  # more than a poll: nothing may follow
        assert len(installation.mails.mails) == 1
        assert len(installation.hooks.requests) == 1


def test_a_reminder_that_comes_due_is_mailed(installation: Installation) -> None:
    with sessions(installation.engine).begin() as session:
        factories.reminder(
            session, installation.tenant, offset_value=60, offset_unit="minutes"
        )
    with worker(installation.environ):
        start = datetime.now(UTC) + timedelta(minutes=60, seconds=3)
        _book(installation, start)
        installation.call("POST", "/bookings/b1/confirm")
        [mail] = installation.mails.wait_for(1, 10)
        # SQLite and PostgreSQL may differ from this clock by a hair.
        assert mail.at >= (start - timedelta(minutes=60)).timestamp() - 0.1


def test_the_same_event_twice_makes_one_execution(installation: Installation) -> None:
    _rules(installation)
    _book(installation)
    installation.call("POST", "/bookings/b1/confirm")
    event = {
        "trigger_type": "booking.confirmed",
        "podcast_id": "show",
        "booking_id": "b1",
        "event_id": "order-7",
    }
    first = installation.call("POST", "/events", event)
    second = installation.call("POST", "/events", event)
    assert (first["executions_created"], first["duplicate"]) == (2, False)
    assert (second["executions_created"], second["duplicate"]) == (0, True)
    assert second["error"] is None
    assert second["event_id"] == first["event_id"]
