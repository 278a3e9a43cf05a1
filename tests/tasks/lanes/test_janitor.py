"""The lane ``janitor``: what is past its time goes, what is needed stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes.janitor import sweep
from tasks.models import (
    Execution,
    ExecutionContext,
    ExecutionState,
    LaneRun,
    Operation,
    OperationKind,
    OperationState,
)
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
LONG_AGO = NOW - timedelta(days=91)


def _fill(make_session: Sessions, **values: object) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        rule = factories.rule(session, tenant)
        for _ in range(3):
            factories.execution(session, rule, **values)


def _count(make_session: Sessions, model: type) -> int:
    with make_session() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def test_what_ended_long_ago_goes_with_all_that_hangs_on_it(
    make_session: Sessions,
) -> None:
    _fill(
        make_session,
        state=ExecutionState.SUCCEEDED,
        created_at=LONG_AGO,
        settled_at=LONG_AGO,
    )
    result = sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    assert len(result.executions) == 3
    assert _count(make_session, Execution) == 0
    assert _count(make_session, ExecutionContext) == 0


def test_what_still_waits_stays_however_old(make_session: Sessions) -> None:
    _fill(make_session, created_at=LONG_AGO)
    assert not sweep(bench(make_session, lambda: NOW, FakePost()), 10).executions
    assert _count(make_session, Execution) == 3


def test_a_limit_is_kept_and_more_is_announced(make_session: Sessions) -> None:
    _fill(
        make_session,
        state=ExecutionState.FAILED,
        created_at=LONG_AGO,
        settled_at=LONG_AGO,
    )
    result = sweep(bench(make_session, lambda: NOW, FakePost()), 2)
    assert (len(result.executions), result.is_full) == (2, True)
    again = sweep(bench(make_session, lambda: NOW, FakePost()), 2)
    assert (len(again.executions), again.is_full) == (1, False)


def test_lane_runs_of_last_month_go(make_session: Sessions) -> None:
    with make_session.begin() as session:
        for age in (8, 1):
            session.add(
                LaneRun(
                    lane="rescue",
                    trigger="clock",
                    requested_at=NOW - timedelta(days=age),
                )
            )
    assert len(sweep(bench(make_session, lambda: NOW, FakePost()), 10).lane_runs) == 1
    assert _count(make_session, LaneRun) == 1


@pytest.mark.parametrize("state", ["done", "running"])
def test_operations_that_ended_long_ago_go_and_open_ones_stay(
    make_session: Sessions, state: str
) -> None:
    ended = LONG_AGO if state == "done" else None
    with make_session.begin() as session:
        session.add(
            Operation(
                kind=OperationKind.REPLAY_EVENTS,
                matching={},
                high_water=LONG_AGO,
                actor="ada@example.org",
                state=OperationState(state),
                n_total=1,
                touched_at=LONG_AGO,
                created_at=LONG_AGO,
                ended_at=ended,
            )
        )
    result = sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    assert len(result.operations) == (1 if ended else 0)
