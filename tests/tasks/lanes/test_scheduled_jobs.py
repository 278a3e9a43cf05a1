"""The lane ``scheduled_jobs``: due jobs become executions, or end with a reason."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes.scheduled_jobs import sweep
from tasks.models import Execution, ExecutionState, JobState, Reason, ScheduledJob
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]


def _noon() -> datetime:
    return NOW


def _job(
    make_session: Sessions, *, rule: dict[str, Any] | None = None, **job: Any
) -> UUID:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant, start_time=NOW + timedelta(hours=24))
        made = factories.reminder(session, tenant, **rule or {})
        return factories.job(session, made, **job).id


def _get(make_session: Sessions, job_id: UUID) -> ScheduledJob:
    with make_session() as session:
        return session.get_one(ScheduledJob, job_id)


def test_a_due_job_becomes_an_execution(make_session: Sessions) -> None:
    id_ = _job(make_session)
    result = sweep(bench(make_session, _noon, FakePost()), 10)
    assert result.dispatched == (id_,)
    job = _get(make_session, id_)
    assert job.state is JobState.DISPATCHED
    with make_session() as session:
        execution = session.scalars(select(Execution)).one()
        assert execution.id == job.execution_id
        assert execution.state is ExecutionState.PENDING
        assert execution.scheduled_job_id == id_
        assert execution.recipient == "joerg@example.org"
        assert execution.due_at == job.due_at


def test_a_job_of_a_disabled_rule_is_skipped_with_the_reason(
    make_session: Sessions,
) -> None:
    id_ = _job(make_session, rule={"enabled": False})
    result = sweep(bench(make_session, _noon, FakePost()), 10)
    assert result.skipped == (id_,)
    assert _get(make_session, id_).reason is Reason.RULE_DISABLED


def test_a_job_whose_worker_was_away_is_sent_while_it_helps(
    make_session: Sessions,
) -> None:
    id_ = _job(make_session)
    two_hours_late = lambda: NOW + timedelta(hours=2)  # noqa: E731  # a stopped clock
    sweep(bench(make_session, two_hours_late, FakePost()), 10)
    assert _get(make_session, id_).state is JobState.DISPATCHED


def test_a_job_that_is_too_late_is_missed(make_session: Sessions) -> None:
    id_ = _job(make_session)
    seven_hours_late = lambda: NOW + timedelta(hours=7)  # noqa: E731  # a stopped clock
    result = sweep(bench(make_session, seven_hours_late, FakePost()), 10)
    assert result.missed == (id_,)
    assert _get(make_session, id_).reason is Reason.TOO_LATE


def test_sweeping_twice_makes_one_execution(make_session: Sessions) -> None:
    _job(make_session)
    sweep(bench(make_session, _noon, FakePost()), 10)
    sweep(bench(make_session, _noon, FakePost()), 10)
    with make_session() as session:
        assert len(session.scalars(select(Execution)).all()) == 1


def test_what_is_not_due_stays_planned(make_session: Sessions) -> None:
    id_ = _job(make_session, run_at=NOW + timedelta(seconds=1))
    sweep(bench(make_session, _noon, FakePost()), 10)
    assert _get(make_session, id_).state is JobState.PENDING
