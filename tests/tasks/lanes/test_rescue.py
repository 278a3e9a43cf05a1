"""The lane ``rescue``: what a vanished worker held comes back, or is set aside."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes.rescue import BYSTANDINGS_MAX, sweep
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Execution,
    ExecutionState,
    Measure,
    Reason,
)
from tests.support import factories
from tests.support.counted import counted
from tests.support.executed import add_many
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.leases import claim

Sessions = sessionmaker[Session]
LATER = NOW + timedelta(seconds=61)


def _later() -> datetime:
    return LATER


def _claimed(
    make_session: Sessions, *, crashes: int = 0, has_begun: bool = True
) -> UUID:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        id_ = factories.execution(session, rule, crashes=crashes).id
        claim(session, bench(make_session, lambda: NOW, FakePost()), limit=1)
        session.get_one(Execution, id_).effect_at = NOW if has_begun else None
    return id_


def test_a_lapsed_lease_is_taken_back_without_a_failure(make_session: Sessions) -> None:
    id_ = _claimed(make_session)
    result = sweep(bench(make_session, _later, FakePost()), 10)
    assert result.taken_back == (id_,)
    with make_session() as session:
        execution = session.get_one(Execution, id_)
        assert execution.state is ExecutionState.PENDING
        assert execution.run_at == LATER
        assert (execution.attempt, execution.crashes, execution.failures) == (1, 1, 0)
    # Its lease had lapsed for a second.
    assert counted(make_session, "rescue") == {
        Measure.SUCCEEDED: 1,
        Measure.WAIT + 6: 1,
    }


@pytest.mark.parametrize(
    ("has_begun", "outcome"),
    [(False, AttemptOutcome.CRASHED), (True, AttemptOutcome.UNKNOWN)],
)
def test_the_attempt_tells_not_begun_from_unknown(
    make_session: Sessions, has_begun: bool, outcome: AttemptOutcome
) -> None:
    id_ = _claimed(make_session, has_begun=has_begun)
    sweep(bench(make_session, _later, FakePost()), 10)
    with make_session() as session:
        assert session.get_one(Attempt, (id_, 1)).outcome is outcome


def test_a_lease_that_still_runs_is_left_alone(make_session: Sessions) -> None:
    _claimed(make_session)
    assert not sweep(bench(make_session, lambda: NOW, FakePost()), 10).taken_back


def test_the_third_crash_quarantines(make_session: Sessions) -> None:
    id_ = _claimed(make_session, crashes=2)
    result = sweep(bench(make_session, _later, FakePost()), 10)
    assert result.quarantined == (id_,)
    with make_session() as session:
        execution = session.get_one(Execution, id_)
        assert execution.state is ExecutionState.QUARANTINED
        assert execution.reason is Reason.WORKER_CRASHES


def test_sweeping_twice_takes_back_once(make_session: Sessions) -> None:
    id_ = _claimed(make_session)
    sweep(bench(make_session, _later, FakePost()), 10)
    assert not sweep(bench(make_session, _later, FakePost()), 10).taken_back
    with make_session() as session:
        assert session.get_one(Execution, id_).crashes == 1


def test_it_pages_through_more_than_one_batch(make_session: Sessions) -> None:
    add_many(make_session, 5)
    with make_session.begin() as session:
        claim(session, bench(make_session, lambda: NOW, FakePost()), limit=5)
    first = sweep(bench(make_session, _later, FakePost()), 3)
    second = sweep(bench(make_session, _later, FakePost()), 3)
    assert (len(first.taken_back), first.is_full) == (3, True)
    assert (len(second.taken_back), second.is_full) == (2, False)
    with make_session() as session:
        states = session.scalars(select(Execution.state)).all()
        assert set(states) == {ExecutionState.PENDING}


def test_what_had_not_begun_is_not_suspected(make_session: Sessions) -> None:
    id_ = _claimed(make_session, crashes=2, has_begun=False)
    assert sweep(bench(make_session, _later, FakePost()), 10).taken_back == (id_,)
    with make_session() as session:
        execution = session.get_one(Execution, id_)
        assert (execution.crashes, execution.run_at) == (2, LATER)


def test_of_those_that_crashed_twice_only_one_runs_at_a_time(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        twice = {factories.execution(session, rule, crashes=2).id for _ in range(3)}
        once = factories.execution(session, rule, crashes=1).id
    done = []
    for _ in range(3):
        claimed, nobody = _claim(make_session), _claim(make_session)
        assert nobody == set()
        (suspect,) = claimed & twice
        done.append((suspect, claimed - twice))
        with make_session.begin() as session:
            row = session.get_one(Execution, suspect)
            row.move_to(ExecutionState.SUCCEEDED, at=NOW)
    assert {suspect for suspect, _ in done} == twice
    assert [others for _, others in done] == [{once}, set(), set()]


def _claim(make_session: Sessions) -> set[UUID]:
    tools = bench(make_session, lambda: NOW, FakePost())
    with make_session.begin() as session:
        return {each.id for each in claim(session, tools, limit=10)}


def test_dying_again_and_again_before_the_effect_makes_a_suspect(
    make_session: Sessions,
) -> None:
    id_ = _claimed(make_session, crashes=2, has_begun=False)
    with make_session.begin() as session:
        execution = session.get_one(Execution, id_)
        execution.attempt = BYSTANDINGS_MAX
        for number in range(1, BYSTANDINGS_MAX):
            session.add(
                Attempt(
                    congregation_id=execution.congregation_id,
                    execution_id=id_,
                    number=number,
                    worker="test",
                    started_at=NOW,
                    finished_at=NOW,
                    outcome=AttemptOutcome.CRASHED,
                )
            )
    assert sweep(bench(make_session, _later, FakePost()), 10).quarantined == (id_,)
