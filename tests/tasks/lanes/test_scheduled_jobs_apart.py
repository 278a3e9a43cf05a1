"""A scheduled job that makes the program fail does so alone, and can be tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions import ACTIONS
from tasks.executing import failing
from tasks.lanes import executions, scheduled_jobs
from tasks.models import (
    Attempt,
    Execution,
    ExecutionState,
    FailedExecution,
    JobState,
    Reason,
    Rule,
    ScheduledJob,
)
from tasks.operations.audit import Actor
from tasks.operations.executions import retry_execution
from tests.support import factories
from tests.support.factories import EMAIL_SETTINGS, NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
STEP = {
    "number": 1,
    "delay": 60,
    "action": "email",
    "settings": dict(EMAIL_SETTINGS),
    "max_attempts": 5,
}


@pytest.fixture
def jobs(make_session: Sessions) -> list[UUID]:
    """Return five due jobs; the last but one is about the booking ``bad``."""
    with make_session.begin() as session:
        of = factories.congregation(session)
        start = NOW + timedelta(hours=24)
        for id_ in ("b1", "bad"):
            factories.booking(session, of, id=id_, start_time=start)
        # No mail: of mails of one booking only the latest goes out.
        rule = factories.reminder(
            session, of, trigger_type="time.after_booking", offset_value=0
        )
        about = ["b1", "b1", "b1", "bad", "b1"]
        return [factories.job(session, rule, booking_id=id_).id for id_ in about]


def breaks(
    monkeypatch: pytest.MonkeyPatch, error: Callable[[], Exception] = ZeroDivisionError
) -> None:
    email = ACTIONS["email"]
    usual = email.recipient

    def recipient(
        settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        if context["booking"]["id"] == "bad":
            raise error()
        return usual(settings, context)

    monkeypatch.setattr(email, "recipient", recipient)


def sweep(make_session: Sessions) -> scheduled_jobs.ScheduledJobSweep:
    return scheduled_jobs.sweep(bench(make_session, lambda: NOW, FakePost()), 10)


def test_the_others_go_on_and_it_can_be_retried(
    make_session: Sessions, jobs: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = jobs[3]
    with monkeypatch.context() as broken:
        breaks(broken)
        swept = sweep(make_session)
    assert swept.failed == (bad,)
    assert set(swept.dispatched) == set(jobs) - {bad}
    with make_session.begin() as session:
        job = session.get_one(ScheduledJob, bad)
        assert job.state is JobState.DISPATCHED
        row = session.get_one(Execution, job.execution_id)
        assert (row.state, row.reason) == (ExecutionState.FAILED, Reason.BAD_MESSAGE)
        assert "see its log" in (row.error or "")
        assert session.scalars(select(FailedExecution.execution_id)).all() == [row.id]
        assert session.scalars(select(Attempt.execution_id)).all() == [row.id]
        retry_execution(session, row.id, Actor("ada@example.org"), now=NOW)
    post = FakePost()
    swept_again = executions.sweep(bench(make_session, lambda: NOW, post), 10)
    assert len(swept_again.succeeded) == len(post.sent) == 5


def test_what_fails_behind_the_dispatch_leaves_nothing_of_it(
    make_session: Sessions, jobs: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtake(_session: Session, going: Any, *_: Any) -> None:
        if any(job.booking_id == "bad" for job in going):
            raise ZeroDivisionError

    monkeypatch.setattr(scheduled_jobs, "overtake", overtake)
    swept = sweep(make_session)
    assert (len(swept.dispatched), swept.failed) == (4, (jobs[3],))
    with make_session() as session:
        states = session.scalars(select(Execution.state)).all()
        ours = set(session.scalars(select(Execution.scheduled_job_id)).all())
        kept = session.scalars(select(ScheduledJob.execution_id)).all()
    assert sorted(states) == ["failed"] + ["pending"] * 4
    assert ours == set(jobs)
    assert None not in kept


def test_what_follows_is_made_all_the_same(
    make_session: Sessions, jobs: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_session.begin() as session:
        job = session.get_one(ScheduledJob, jobs[0])
        rule = session.get_one(Rule, job.rule_id)
        rule.steps, rule.n_steps = [STEP], 1
    monkeypatch.setattr(scheduled_jobs, "overtake", _always)
    assert set(sweep(make_session).failed) == set(jobs)
    with make_session() as session:
        steps = session.scalars(select(Execution.step)).all()
    assert sorted(steps) == [0] * 5 + [1] * 5


def _always(*_: Any) -> None:
    raise ZeroDivisionError


def test_what_cannot_even_fail_waits_behind_the_others(
    make_session: Sessions, jobs: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch)
    monkeypatch.setattr(failing, "settle_taken", _always)
    swept = sweep(make_session)
    assert (len(swept.dispatched), swept.failed) == (4, (jobs[3],))
    with make_session() as session:
        job = session.get_one(ScheduledJob, jobs[3])
    assert (job.state, job.run_at) == (JobState.PENDING, NOW + failing.PUT_OFF)
    assert sweep(make_session) == scheduled_jobs.ScheduledJobSweep()


def test_a_database_that_is_away_fails_nobody(
    make_session: Sessions, jobs: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch, lambda: OperationalError("SELECT", None, Exception("gone")))
    with pytest.raises(OperationalError):
        sweep(make_session)
    with make_session() as session:
        assert set(session.scalars(select(ScheduledJob.state))) == {JobState.PENDING}
    assert jobs
