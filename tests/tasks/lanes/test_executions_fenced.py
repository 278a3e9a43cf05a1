"""Executions: whom the lane shuts out, and whose rows it keeps."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from tasks.automation.actions.base import Done, Envelope, Outcome
from tasks.db import sessions
from tasks.executing.marking import unmark
from tasks.executing.preparing import prepare
from tasks.executing.settling import settle
from tasks.executing.verdicts import judge
from tasks.held import Claim, renew
from tasks.lanes.executions import sweep
from tasks.models import AttemptOutcome, Execution, ExecutionMessage, ExecutionState
from tests.support.executed import (
    Sessions,
    add_many,
    add_one,
    attempts_of,
    claim_one,
    get_one,
    noon,
)
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.leases import claim


def test_a_late_writer_is_shut_out_by_the_attempt_number(
    make_session: Sessions,
) -> None:
    id_, stale = claim_one(make_session)
    with make_session.begin() as session:
        execution = session.get_one(Execution, id_)
        execution.attempt += 1  # somebody else has it now
    verdict = judge(stale, Done(), failures=0, max_attempts=5, now=NOW)
    with make_session.begin() as session:
        assert settle(session, [verdict], worker="test", now=NOW) == set()
    assert get_one(make_session, id_).state is ExecutionState.RUNNING


def test_a_late_writer_is_shut_out_by_the_state(make_session: Sessions) -> None:
    id_, claimed = claim_one(make_session)
    with make_session.begin() as session:
        session.get_one(Execution, id_).move_to(ExecutionState.PENDING, at=NOW)
    verdict = judge(claimed, Done(), failures=0, max_attempts=5, now=NOW)
    with make_session.begin() as session:
        assert settle(session, [verdict], worker="test", now=NOW) == set()
    assert get_one(make_session, id_).state is ExecutionState.PENDING


def test_what_was_taken_back_while_it_was_looked_at_does_not_begin(
    make_session: Sessions,
) -> None:
    """A worker that slept there would repeat what rescue says had not begun."""
    id_ = add_one(make_session)
    sleeper = bench(make_session, noon, FakePost())
    with make_session.begin() as session:
        looked_at = claim(session, sleeper, limit=1)
    with make_session.begin() as session:
        session.get_one(Execution, id_).move_to(ExecutionState.PENDING, at=NOW)
    with make_session.begin() as session:
        assert prepare(session, looked_at, now=NOW) == []
    assert get_one(make_session, id_).effect_at is None
    with make_session() as session:
        assert session.get(ExecutionMessage, id_) is None


def test_only_our_own_leases_are_renewed(make_session: Sessions) -> None:
    id_, claimed = claim_one(make_session)
    later = NOW + timedelta(hours=1)
    stranger = Claim(id_, claimed.attempt + 1, claimed.congregation_id)
    with make_session.begin() as session:
        assert renew(session, [stranger], until=later) == 0
        assert renew(session, [claimed], until=later) == 1
    assert get_one(make_session, id_).lease_until == later


def test_a_renewal_waits_for_nobody_who_writes_the_row(postgres_engine: Engine) -> None:
    """Two that write several rows, each in its own order, would wait for each other."""
    make_session = sessions(postgres_engine)
    id_, claimed = claim_one(make_session)
    later = NOW + timedelta(hours=1)
    with make_session() as writer, make_session() as renewer:
        writer.get(Execution, id_, with_for_update=True)
        assert renew(renewer, [claimed], until=later) == 0
        writer.commit()
        assert renew(renewer, [claimed], until=later) == 1


def test_a_stopping_worker_claims_nothing_and_gives_back_what_it_had_not_begun(
    make_session: Sessions,
) -> None:
    add_many(make_session, 20)
    post = FakePost()
    stopping = bench(make_session, noon, post)

    def stop_after_the_first(_envelope: Envelope) -> Outcome:
        stopping.stopping.set()
        return Done(250)

    post._answer = stop_after_the_first
    result = sweep(stopping, 20)

    assert len(result.succeeded) + len(result.released) == 20
    assert result.released
    given_back = get_one(make_session, result.released[0])
    assert given_back.state is ExecutionState.PENDING
    assert given_back.failures == 0
    assert given_back.attempt == 1
    [attempt] = attempts_of(make_session, given_back.id)
    assert attempt.outcome is AttemptOutcome.RELEASED
    assert sweep(stopping, 20).succeeded == ()


@pytest.mark.parametrize(("taken_over", "is_kept"), [(False, False), (True, True)])
def test_a_message_is_forgotten_only_while_the_row_is_still_ours(
    make_session: Sessions, taken_over: bool, is_kept: bool
) -> None:
    id_, stale = claim_one(make_session)
    with make_session.begin() as session:
        execution = session.get_one(Execution, id_)
        execution.attempt += taken_over
        session.add(
            ExecutionMessage(
                congregation_id=execution.congregation_id,
                execution_id=id_,
                message={"body": {}},
                composed_at=NOW,
            )
        )
    with make_session.begin() as session:
        unmark(session, [stale])
    with make_session() as session:
        assert (session.get(ExecutionMessage, id_) is not None) is is_kept
