"""Executions whose effects are rows of ours: all of it happens, or nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Effects, Envelope, Outcome, TryAgain
from tasks.lane import Bench
from tasks.lanes import executions
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Execution,
    ExecutionState,
    LaneRun,
    LaneTrigger,
    Reason,
    Rule,
)
from tasks.operations.lane_starts import LaneStarter
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]


def _noon() -> datetime:
    return NOW


class _Starter:
    """Writes a row for each start, and then does as it is told."""

    def __init__(self, *troubles: Exception | Outcome | None) -> None:
        self._troubles = list(troubles)

    def start(self, session: Session, lane: str, envelope: Envelope) -> Outcome:
        session.add(
            LaneRun(
                id=envelope.execution_id,
                lane=lane,
                trigger=LaneTrigger.RULE,
                requested_at=NOW,
            )
        )
        session.flush()
        trouble = self._troubles.pop(0) if self._troubles else None
        if isinstance(trouble, Exception):
            raise trouble
        return trouble or Done()


@pytest.fixture
def own(make_session: Sessions) -> Bench:
    return _with(make_session, LaneStarter(_noon))


def _with(make_session: Sessions, starter: LaneStarter | _Starter) -> Bench:
    made, post = bench(make_session, _noon, FakePost()), FakePost()
    return replace(made, effects=Effects(mailer=post, poster=post, starter=starter))


def _pending(make_session: Sessions, n: int = 1) -> list[UUID]:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(
            session, tenant, action="start_lane", settings={"lane": "janitor"}
        )
        return [
            factories.execution(
                session, rule, action="start_lane", idempotency_key=f"k{number}"
            ).id
            for number in range(n)
        ]


def _rows(make_session: Sessions) -> list[Execution]:
    with make_session() as session:
        return list(session.scalars(select(Execution).order_by(Execution.id)))


def test_it_is_done_settled_and_never_leased(
    make_session: Sessions, own: Bench
) -> None:
    [id_] = _pending(make_session)

    swept = executions.sweep(own, 10)

    assert swept.succeeded == (id_,)
    [row] = _rows(make_session)
    assert (row.state, row.attempt) == (ExecutionState.SUCCEEDED, 1)
    assert (row.claimed_at, row.effect_at, row.settled_at) == (NOW, NOW, NOW)
    assert (row.worker, row.lease_until) == (None, None)
    assert (row.recipient or "").casefold() == "janitor"
    with make_session() as session:
        [attempt] = session.scalars(select(Attempt))
        assert (attempt.number, attempt.outcome) == (1, AttemptOutcome.SUCCEEDED)
        assert (attempt.started_at, attempt.worker) == (NOW, own.worker)
        assert session.get_one(LaneRun, id_).lane == "janitor"


def test_a_worker_that_dies_in_the_middle_leaves_it_as_it_was(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pending(make_session)

    def die(_place: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tasks.executing.within.reached", die)
    with pytest.raises(KeyboardInterrupt):
        executions.sweep(_with(make_session, _Starter()), 10)

    [row] = _rows(make_session)
    assert (row.state, row.attempt) == (ExecutionState.PENDING, 0)
    with make_session() as session:
        assert session.scalar(select(func.count()).select_from(LaneRun)) == 0
        assert session.scalar(select(func.count()).select_from(Attempt)) == 0


@pytest.mark.parametrize(
    "trouble", [RuntimeError("a bug"), IntegrityError("x", {}, Exception())]
)
def test_an_error_takes_back_what_it_wrote_and_stops_nobody_else(
    make_session: Sessions, trouble: Exception
) -> None:
    ids = _pending(make_session, 3)
    # Once for all of them together, then for the second alone.
    starter = _Starter(None, trouble, None, trouble, None)

    swept = executions.sweep(_with(make_session, starter), 10)

    assert set(swept.succeeded) == {ids[0], ids[2]}
    assert swept.retried == (ids[1],)
    row = _rows(make_session)[1]
    assert (row.state, row.failures, row.attempt) == (ExecutionState.PENDING, 1, 1)
    assert row.error is not None
    assert "error in the program" in row.error
    with make_session() as session:
        assert {run.id for run in session.scalars(select(LaneRun))} == {ids[0], ids[2]}


def test_what_may_work_later_waits_and_then_fails_for_good(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        rule = factories.rule(
            session,
            factories.congregation(session),
            action="start_lane",
            settings={"lane": "janitor"},
        )
        row = factories.execution(
            session, rule, action="start_lane", max_attempts=2, booking_id=None
        )
        row.failures, row.attempt = 1, 1

    swept = executions.sweep(_with(make_session, _Starter(TryAgain("Paused."))), 10)

    assert len(swept.failed) == 1
    [row] = _rows(make_session)
    assert (row.state, row.reason) == (
        ExecutionState.FAILED,
        Reason.ATTEMPTS_USED_UP,
    )
    assert (row.attempt, row.failures, row.error) == (2, 2, "Paused.")


def test_what_must_not_go_ahead_is_skipped_with_its_reason(
    make_session: Sessions, own: Bench
) -> None:
    [id_] = _pending(make_session)
    with make_session.begin() as session:
        rule_id = session.get_one(Execution, id_).rule_id
        session.get_one(Rule, rule_id).enabled = False

    assert executions.sweep(own, 10).skipped == (id_,)
    [row] = _rows(make_session)
    assert (row.state, row.reason) == (
        ExecutionState.SKIPPED,
        Reason.RULE_DISABLED,
    )
    assert row.effect_at is None
    with make_session() as session:
        [attempt] = session.scalars(select(Attempt))
        assert attempt.effect_started_at is None
