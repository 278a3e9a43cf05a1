"""A rule of several steps, to its end: a mail now, a note to a chat two days later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions import configure, make_effects
from tasks.automation.bookings import cancel, confirm
from tasks.config import Config
from tasks.lane import Bench
from tasks.models import BookingStatus, Execution, ExecutionState, LaneTrigger, Reason
from tasks.operations.audit import SYSTEM
from tasks.operations.lane_starts import startable
from tasks.operations.rule_steps import StepChange
from tasks.operations.rules import RuleChange, create_rule
from tasks.registry import lane
from tasks.runner import run_lane
from tasks.secrets import SecretBox
from tests.support import factories
from tests.support.factories import NOW
from tests.support.hook_sink import HookSink
from tests.support.smtp_sink import SmtpSink

Sessions = sessionmaker[Session]
SOON = timedelta(minutes=1)
LATER = timedelta(days=2)


class Worker:
    """The executions lane as a worker runs it, with a clock that a test moves."""

    def __init__(self, make_session: Sessions, config: Config) -> None:
        self.now = NOW
        self._bench = Bench(
            begin=make_session.begin,
            clock=lambda: self.now,
            effects=make_effects(config),
        )

    def sweep_at(self, now: datetime) -> None:
        self.now = now
        ran = run_lane(lane("executions"), self._bench, LaneTrigger.CLOCK)
        assert ran is not None
        assert ran.error is None


@pytest.fixture
def config(tmp_path: Path, smtp_sink: SmtpSink) -> Iterator[Config]:
    strict = {"VAR_DIR": str(tmp_path), "SMTP_URL": smtp_sink.url}
    allowing = {"WEBHOOK_HTTP": "1", "WEBHOOK_ALLOW": "127.0.0.0/8"}
    made = Config.from_environ(strict | allowing)
    configure(made, startable())
    yield made
    configure(Config.from_environ(strict), startable())


@pytest.fixture
def confirmed(
    make_session: Sessions, config: Config, hook_sink: HookSink
) -> Callable[[], Worker]:
    """Return a function that confirms a booking, for a rule of two steps."""

    def begin() -> Worker:
        chat = StepChange(
            action="notify",
            delay=LATER // timedelta(minutes=1),
            settings={
                "target": f"json://127.0.0.1:{hook_sink.port}/chat",
                "title": "{{ podcast.title }}",
                "words": "{{ guest.name }} records soon.",
            },
        )
        change = RuleChange(
            name="Welcome",
            trigger_type="booking.confirmed",
            action="email",
            settings=dict(factories.EMAIL_SETTINGS),
            steps=(chat,),
        )
        with make_session.begin() as session:
            tenant = factories.congregation(session)
            factories.booking(
                session,
                tenant,
                status=BookingStatus.REQUESTED,
                confirmed_at=None,
                start_time=NOW + timedelta(days=9),
            )
            box = SecretBox(config.secret_key)
            create_rule(session, tenant, change, SYSTEM, box, now=NOW)
        with make_session.begin() as session:
            confirm(session, tenant, "b1", now=NOW)
        return Worker(make_session, config)

    return begin


def _of_step(make_session: Sessions, step: int) -> Execution:
    with make_session() as session:
        return session.scalars(select(Execution).where(Execution.step == step)).one()


def test_the_mail_goes_now_and_the_note_two_days_later(
    confirmed: Callable[[], Worker],
    make_session: Sessions,
    smtp_sink: SmtpSink,
    hook_sink: HookSink,
) -> None:
    worker = confirmed()

    worker.sweep_at(NOW)
    [mail] = smtp_sink.wait_for(1)
    assert mail.recipients == ["joerg@example.org"]
    worker.sweep_at(NOW + LATER - SOON)
    assert hook_sink.requests == []

    worker.sweep_at(NOW + LATER)
    [note] = hook_sink.wait_for(1, "/chat")
    assert note.json["title"] == "Kirchplatz"
    assert note.json["message"] == "Jörg 🎙 records soon."
    row = _of_step(make_session, 1)
    assert (row.state, row.due_at) == (ExecutionState.SUCCEEDED, NOW + LATER)

    worker.sweep_at(NOW + 2 * LATER)
    assert len(hook_sink.requests) == len(smtp_sink.mails) == 1


def test_a_booking_that_is_cancelled_in_between_takes_the_note_along(
    confirmed: Callable[[], Worker],
    make_session: Sessions,
    smtp_sink: SmtpSink,
    hook_sink: HookSink,
) -> None:
    worker = confirmed()
    worker.sweep_at(NOW)
    smtp_sink.wait_for(1)

    with make_session.begin() as session:
        tenant = _of_step(make_session, 1).congregation_id
        cancel(session, tenant, "b1", now=NOW + timedelta(days=1))
    worker.sweep_at(NOW + LATER)

    row = _of_step(make_session, 1)
    assert (row.state, row.reason) == (
        ExecutionState.CANCELLED,
        Reason.BOOKING_CANCELLED,
    )
    assert hook_sink.requests == []
