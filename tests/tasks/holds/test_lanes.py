"""A paused lane goes on with a plan for what is overdue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.errors import Conflict, NotFound
from tasks.holds.lanes import overdue, resume_with
from tasks.holds.plans import Chosen, Plan
from tasks.lanes import operations
from tasks.models import (
    BookingStatus,
    Execution,
    ExecutionState,
    JobState,
    LaneSetting,
    Operation,
    OperationState,
    Reason,
    ScheduledJob,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.lanes import pause_lane
from tasks.operations.pieces import PIECE
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ANNA = Actor("anna@example.org")


def _resume(
    make_session: Sessions, lane: str, plan: Plan, minutes: int = 10
) -> Operation | None:
    chosen = Chosen(plan, minutes, new_id(), NOW)
    with make_session.begin() as session:
        return resume_with(session, lane, chosen, ANNA, now=NOW)


def _is_paused(make_session: Sessions, lane: str) -> bool:
    with make_session() as session:
        return session.get_one(LaneSetting, lane).is_paused


@pytest.fixture
def paused(make_session: Sessions) -> Callable[[str, int], None]:
    """Return a function that pauses a lane with overdue work, one of it of no use."""

    def made(lane: str, n: int) -> None:
        with make_session.begin() as session:
            tenant = factories.congregation(session)
            factories.booking(session, tenant)
            called_off = BookingStatus.CANCELLED
            factories.booking(session, tenant, id="b2", status=called_off)
            rule = factories.reminder(session, tenant)
            kind = factories.job if lane == "scheduled_jobs" else factories.execution
            late = NOW - timedelta(minutes=5)
            for number in range(n):
                about = "b1" if number else "b2"
                kind(session, rule, booking_id=about, run_at=late, due_at=late)
            kind(session, rule, booking_id="b1", run_at=NOW + timedelta(hours=1))
            pause_lane(session, lane, ANNA, now=late)

    return made


def test_what_is_overdue_is_looked_at_as_the_lane_will(
    make_session: Sessions, paused: Callable[[str, int], None]
) -> None:
    paused("executions", 3)
    with make_session() as session:
        told = overdue(session, "executions", NOW)
        assert (told.n_looked, told.n_useful) == (3, 2)
        assert told.stops == {"The booking was cancelled.": 1}
        with pytest.raises(NotFound):
            overdue(session, "rescue", NOW)


def test_spread_executions_move_before_the_lane_goes_on(
    make_session: Sessions, paused: Callable[[str, int], None]
) -> None:
    paused("executions", 3)

    operation = _resume(make_session, "executions", Plan.SPREAD)

    assert operation is not None
    assert operation.state is OperationState.DONE
    assert not _is_paused(make_session, "executions")
    with make_session() as session:
        rows = session.scalars(select(Execution).order_by(Execution.id)).all()
    assert [row.state for row in rows[:3]] == [
        ExecutionState.SKIPPED,
        ExecutionState.PENDING,
        ExecutionState.PENDING,
    ]
    assert rows[0].reason is Reason.BOOKING_CANCELLED
    assert NOW <= rows[1].run_at < rows[2].run_at < NOW + timedelta(minutes=10)
    assert rows[3].run_at == NOW + timedelta(hours=1)


def test_the_lane_waits_until_many_rows_are_dropped(
    make_session: Sessions, paused: Callable[[str, int], None]
) -> None:
    paused("executions", PIECE + 1)
    _resume(make_session, "executions", Plan.DROP)
    assert _is_paused(make_session, "executions")

    worker = bench(make_session, lambda: NOW, FakePost())
    while operations.sweep(worker, PIECE) != operations.OperationSweep():
        pass

    assert not _is_paused(make_session, "executions")
    with make_session() as session:
        waiting = session.scalars(
            select(Execution).where(Execution.state == ExecutionState.PENDING)
        )
        assert len(waiting.all()) == 1


def test_overdue_jobs_are_dropped_and_those_to_come_stay(
    make_session: Sessions, paused: Callable[[str, int], None]
) -> None:
    paused("scheduled_jobs", 3)
    with make_session() as session:
        told = overdue(session, "scheduled_jobs", NOW)
    assert (told.n_looked, told.n_useful) == (3, 2)

    _resume(make_session, "scheduled_jobs", Plan.DROP)

    assert not _is_paused(make_session, "scheduled_jobs")
    with make_session() as session:
        states = list(session.scalars(select(ScheduledJob.state)))
    assert sorted(states) == [JobState.CANCELLED] * 3 + [JobState.PENDING]


def test_a_lane_that_runs_or_knows_no_plan_is_left_alone(
    make_session: Sessions, paused: Callable[[str, int], None]
) -> None:
    paused("executions", 1)
    assert _resume(make_session, "executions", Plan.SEND) is None
    assert not _is_paused(make_session, "executions")
    for lane, plan in (("executions", Plan.DROP), ("scheduled_jobs", Plan.SPREAD)):
        with pytest.raises(Conflict):
            _resume(make_session, lane, plan)
