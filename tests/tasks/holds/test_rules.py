"""A rule that is switched on again goes on with a plan for what is overdue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.holds.plans import Chosen, Plan
from tasks.holds.rules import Switched, enable_with, overdue_of
from tasks.lanes import operations
from tasks.models import (
    BookingStatus,
    Execution,
    ExecutionState,
    JobState,
    Operation,
    OperationState,
    Rule,
    ScheduledJob,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.pieces import PIECE
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ANNA = Actor("anna@example.org")


@pytest.fixture
def off(make_session: Sessions) -> Callable[[int], UUID]:
    """Return a function that makes a rule that is off, with overdue executions."""

    def made(n: int) -> UUID:
        late = NOW - timedelta(minutes=5)
        with make_session.begin() as session:
            tenant = factories.congregation(session)
            factories.booking(session, tenant)
            called_off = BookingStatus.CANCELLED
            factories.booking(session, tenant, id="b2", status=called_off)
            rule = factories.reminder(session, tenant, enabled=False)
            for number in range(n):
                about = "b1" if number else "b2"
                times = {"run_at": late, "due_at": late}
                factories.execution(session, rule, booking_id=about, **times)
            factories.job(session, rule, booking_id="b1", run_at=late, due_at=late)
            factories.execution(session, rule, run_at=NOW + timedelta(hours=1))
            return rule.id

    return made


def _enable(
    make_session: Sessions, rule_id: UUID, plan: Plan, minutes: int = 0
) -> Switched:
    chosen = Chosen(plan, minutes, new_id(), NOW)
    with make_session.begin() as session:
        return enable_with(session, rule_id, chosen, ANNA, now=NOW)


def _is_on(make_session: Sessions, rule_id: UUID) -> bool:
    with make_session() as session:
        return session.get_one(Rule, rule_id).enabled


def _n_cancelled(make_session: Sessions) -> tuple[int, int]:
    with make_session() as session:
        executions = session.query(Execution).filter_by(state=ExecutionState.CANCELLED)
        jobs = session.query(ScheduledJob).filter_by(state=JobState.CANCELLED)
        return executions.count(), jobs.count()


def test_what_is_overdue_is_looked_at_as_if_the_rule_were_on(
    make_session: Sessions, off: Callable[[int], UUID]
) -> None:
    rule_id = off(3)
    with make_session() as session:
        n, told = overdue_of(session, rule_id, NOW)
        assert (n, told.n_looked, told.n_useful) == (4, 4, 3)
        assert told.stops == {"The booking was cancelled.": 1}
        assert not session.new
        assert not session.dirty
    assert not _is_on(make_session, rule_id)


def test_few_that_are_dropped_are_gone_before_the_rule_is_on(
    make_session: Sessions, off: Callable[[int], UUID]
) -> None:
    rule_id = off(3)
    done = _enable(make_session, rule_id, Plan.DROP)
    assert (done.operation, done.saved is not None) == (None, True)
    assert _is_on(make_session, rule_id)
    assert _n_cancelled(make_session) == (3, 1)


def test_while_many_are_dropped_the_rule_stays_off(
    make_session: Sessions, off: Callable[[int], UUID]
) -> None:
    rule_id = off(PIECE + 1)
    done = _enable(make_session, rule_id, Plan.DROP)
    assert done.saved is None
    assert not _is_on(make_session, rule_id)
    worker = bench(make_session, lambda: NOW, FakePost())
    while operations.sweep(worker, PIECE) != operations.OperationSweep():
        pass
    assert _is_on(make_session, rule_id)
    assert _n_cancelled(make_session) == (PIECE + 1, 1)
    with make_session() as session:
        states = set(session.scalars(select(Operation.state)))
        assert states == {OperationState.DONE}


def test_what_is_spread_goes_out_after_the_rule_is_on(
    make_session: Sessions, off: Callable[[int], UUID]
) -> None:
    rule_id = off(3)
    done = _enable(make_session, rule_id, Plan.SPREAD, minutes=30)
    assert done.operation is not None
    assert _is_on(make_session, rule_id)
    with make_session() as session:
        wanted = select(Execution.run_at).filter_by(state=ExecutionState.PENDING)
        times = sorted(session.scalars(wanted))
        assert times[0] >= NOW
        assert times[1] >= NOW + timedelta(minutes=10)
    assert _n_cancelled(make_session) == (0, 0)


def test_with_nothing_overdue_there_is_nothing_to_do(
    make_session: Sessions, off: Callable[[int], UUID]
) -> None:
    rule_id = off(0)
    with make_session.begin() as session:
        session.delete(session.scalars(select(ScheduledJob)).one())
    for plan in (Plan.DROP, Plan.SPREAD, Plan.SEND):
        assert _enable(make_session, rule_id, plan, minutes=5).operation is None
    assert _is_on(make_session, rule_id)
