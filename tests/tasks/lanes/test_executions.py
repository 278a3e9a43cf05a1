"""The lane ``executions``: what it does, in which order, whom it shuts out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, event, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.db import sessions
from tasks.executing.marking import unmark
from tasks.executing.preparing import prepare
from tasks.executing.running import AT_ONCE, FRESH_SECONDS
from tasks.executing.settling import settle
from tasks.executing.verdicts import judge
from tasks.held import Claim, renew
from tasks.lanes.executions import sweep
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Booking,
    BookingStatus,
    Execution,
    ExecutionMessage,
    ExecutionState,
    Reason,
)
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.leases import claim

Sessions = sessionmaker[Session]


def _noon() -> datetime:
    return NOW


def _one(make_session: Sessions, **values: object) -> UUID:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        return factories.execution(session, rule, **values).id


def _get(make_session: Sessions, execution_id: UUID) -> Execution:
    with make_session() as session:
        return session.get_one(Execution, execution_id)


def _attempts(make_session: Sessions, execution_id: UUID) -> list[Attempt]:
    with make_session() as session:
        return list(
            session.scalars(
                select(Attempt)
                .where(Attempt.execution_id == execution_id)
                .order_by(Attempt.number)
            )
        )


def test_a_due_execution_is_sent_and_succeeds(make_session: Sessions) -> None:
    id_ = _one(make_session)
    post = FakePost()

    result = sweep(bench(make_session, _noon, post), 10)

    assert result.succeeded == (id_,)
    execution = _get(make_session, id_)
    assert execution.state is ExecutionState.SUCCEEDED
    assert execution.settled_at == NOW
    assert execution.lease_until is None
    [(envelope, message)] = post.sent
    assert envelope.execution_id == id_
    assert message["subject"] == "Hello Jörg 🎙"
    [attempt] = _attempts(make_session, id_)
    assert attempt.outcome is AttemptOutcome.SUCCEEDED
    assert attempt.effect_started_at == NOW
    with make_session() as session:
        assert session.get_one(ExecutionMessage, id_).message["subject"]


def test_what_is_not_due_is_left_alone(make_session: Sessions) -> None:
    id_ = _one(make_session, run_at=NOW + timedelta(seconds=1))
    post = FakePost()
    result = sweep(bench(make_session, _noon, post), 10)
    assert not post.sent
    assert not result.succeeded
    assert _get(make_session, id_).state is ExecutionState.PENDING


def test_a_failure_is_tried_again_later_and_keeps_its_due_time(
    make_session: Sessions,
) -> None:
    id_ = _one(make_session)
    wish = timedelta(minutes=10)
    post = FakePost(TryAgain("host unreachable", 451, after=wish))

    result = sweep(bench(make_session, _noon, post), 10)

    assert result.retried == (id_,)
    execution = _get(make_session, id_)
    assert execution.state is ExecutionState.PENDING
    assert execution.run_at >= NOW + wish
    assert execution.due_at == NOW
    assert execution.failures == 1
    assert execution.error == "host unreachable"
    assert _attempts(make_session, id_)[0].status_code == 451


def test_the_last_attempt_fails_for_good(make_session: Sessions) -> None:
    id_ = _one(make_session, failures=4)
    result = sweep(bench(make_session, _noon, FakePost(TryAgain("no"))), 10)
    assert result.failed == (id_,)
    execution = _get(make_session, id_)
    assert execution.reason is Reason.ATTEMPTS_USED_UP
    assert execution.error == "no"


def test_a_refusal_is_not_tried_again(make_session: Sessions) -> None:
    id_ = _one(make_session)
    post = FakePost(GiveUp(Reason.REFUSED, "mailbox refused: 550", 550))
    sweep(bench(make_session, _noon, post), 10)
    execution = _get(make_session, id_)
    assert execution.state is ExecutionState.FAILED
    assert execution.reason is Reason.REFUSED


def test_a_bug_in_one_row_neither_stops_the_others_nor_hides(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        ids = [factories.execution(session, rule).id for _ in range(3)]

    def answer(envelope: Envelope) -> Outcome:
        if envelope.execution_id == ids[1]:
            raise ZeroDivisionError
        return Done(250)

    result = sweep(bench(make_session, _noon, FakePost(answer)), 10)

    assert set(result.succeeded) == {ids[0], ids[2]}
    assert result.retried == (ids[1],)
    [attempt] = _attempts(make_session, ids[1])
    assert attempt.outcome is AttemptOutcome.UNKNOWN


def test_nothing_is_sent_for_a_booking_that_was_cancelled(
    make_session: Sessions,
) -> None:
    id_ = _one(make_session)
    with make_session.begin() as session:
        execution = session.get_one(Execution, id_)
        booking = session.get_one(Booking, (execution.congregation_id, "b1"))
        booking.status = BookingStatus.CANCELLED
    post = FakePost()

    result = sweep(bench(make_session, _noon, post), 10)

    assert not post.sent
    assert result.skipped == (id_,)
    assert _get(make_session, id_).reason is Reason.BOOKING_CANCELLED
    assert _attempts(make_session, id_)[0].effect_started_at is None


def test_it_takes_the_oldest_first_and_no_more_than_the_limit(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        ids = [
            factories.execution(session, rule, run_at=NOW - timedelta(minutes=age)).id
            for age in (1, 3, 2)
        ]
    first = sweep(bench(make_session, _noon, FakePost()), 2)
    assert set(first.succeeded) == {ids[1], ids[2]}
    assert first.is_full
    second = sweep(bench(make_session, _noon, FakePost()), 2)
    assert second.succeeded == (ids[0],)


def test_before_it_is_known_how_long_one_takes_few_are_leased(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.pace.UNTRIED", 2)
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        for _ in range(5):
            factories.execution(session, rule)
    own = bench(make_session, _noon, FakePost())
    first, rest = sweep(own, 10), sweep(own, 10)
    assert (len(first.succeeded), first.is_full) == (2, True)
    assert (len(rest.succeeded), rest.is_full) == (3, False)


def test_running_twice_does_the_work_once(make_session: Sessions) -> None:
    _one(make_session)
    post = FakePost()
    sweep(bench(make_session, _noon, post), 10)
    sweep(bench(make_session, _noon, post), 10)
    assert len(post.sent) == 1


def test_a_flood_of_one_congregation_leaves_room_for_another(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        flood = factories.congregation(session, "flood")
        quiet = factories.congregation(session, "quiet")
        for tenant in (flood, quiet):
            factories.booking(session, tenant)
        rule = factories.rule(session, flood)
        for age in range(30):
            factories.execution(
                session, rule, run_at=NOW - timedelta(hours=2, seconds=age)
            )
        single = factories.execution(session, factories.rule(session, quiet)).id

    result = sweep(bench(make_session, _noon, FakePost()), 10)

    assert single in result.succeeded
    assert len(result.succeeded) == 10


def _claim_one(make_session: Sessions) -> tuple[UUID, Claim]:
    id_ = _one(make_session)
    with make_session.begin() as session:
        [claimed] = claim(session, bench(make_session, _noon, FakePost()), limit=1)
    return id_, claimed.claim


def test_a_late_writer_is_shut_out_by_the_attempt_number(
    make_session: Sessions,
) -> None:
    id_, stale = _claim_one(make_session)
    with make_session.begin() as session:
        execution = session.get_one(Execution, id_)
        execution.attempt += 1  # somebody else has it now
    verdict = judge(stale, Done(), failures=0, max_attempts=5, now=NOW)
    with make_session.begin() as session:
        assert settle(session, [verdict], worker="test", now=NOW) == set()
    assert _get(make_session, id_).state is ExecutionState.RUNNING


def test_a_late_writer_is_shut_out_by_the_state(make_session: Sessions) -> None:
    id_, claimed = _claim_one(make_session)
    with make_session.begin() as session:
        session.get_one(Execution, id_).move_to(ExecutionState.PENDING, at=NOW)
    verdict = judge(claimed, Done(), failures=0, max_attempts=5, now=NOW)
    with make_session.begin() as session:
        assert settle(session, [verdict], worker="test", now=NOW) == set()
    assert _get(make_session, id_).state is ExecutionState.PENDING


def test_what_was_taken_back_while_it_was_looked_at_does_not_begin(
    make_session: Sessions,
) -> None:
    """A worker that slept there would repeat what rescue says had not begun."""
    id_ = _one(make_session)
    sleeper = bench(make_session, _noon, FakePost())
    with make_session.begin() as session:
        looked_at = claim(session, sleeper, limit=1)
    with make_session.begin() as session:
        session.get_one(Execution, id_).move_to(ExecutionState.PENDING, at=NOW)
    with make_session.begin() as session:
        assert prepare(session, looked_at, now=NOW) == []
    assert _get(make_session, id_).effect_at is None
    with make_session() as session:
        assert session.get(ExecutionMessage, id_) is None


def test_only_our_own_leases_are_renewed(make_session: Sessions) -> None:
    id_, claimed = _claim_one(make_session)
    later = NOW + timedelta(hours=1)
    stranger = Claim(id_, claimed.attempt + 1, claimed.congregation_id)
    with make_session.begin() as session:
        assert renew(session, [stranger], until=later) == 0
        assert renew(session, [claimed], until=later) == 1
    assert _get(make_session, id_).lease_until == later


def test_a_renewal_waits_for_nobody_who_writes_the_row(postgres_engine: Engine) -> None:
    """Two that write several rows, each in its own order, would wait for each other."""
    make_session = sessions(postgres_engine)
    id_, claimed = _claim_one(make_session)
    later = NOW + timedelta(hours=1)
    with make_session() as writer, make_session() as renewer:
        writer.get(Execution, id_, with_for_update=True)
        assert renew(renewer, [claimed], until=later) == 0
        writer.commit()
        assert renew(renewer, [claimed], until=later) == 1


def test_a_stopping_worker_claims_nothing_and_gives_back_what_it_had_not_begun(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        for _ in range(20):
            factories.execution(session, rule)
    post = FakePost()
    stopping = bench(make_session, _noon, post)

    def stop_after_the_first(_envelope: Envelope) -> Outcome:
        stopping.stopping.set()
        return Done(250)

    post._answer = stop_after_the_first
    result = sweep(stopping, 20)

    assert len(result.succeeded) + len(result.released) == 20
    assert result.released
    given_back = _get(make_session, result.released[0])
    assert given_back.state is ExecutionState.PENDING
    assert given_back.failures == 0
    assert given_back.attempt == 1
    [attempt] = _attempts(make_session, given_back.id)
    assert attempt.outcome is AttemptOutcome.RELEASED
    assert sweep(stopping, 20).succeeded == ()


@pytest.mark.parametrize("setting", ["subject", "text"])
def test_a_missing_required_value_fails_with_a_reason_and_sends_nothing(
    make_session: Sessions, setting: str
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant, meeting_url=None)
        settings = factories.EMAIL_SETTINGS | {
            setting: "Here: {{ booking.meeting_url }}"
        }
        rule = factories.rule(session, tenant, settings=settings)
        id_ = factories.execution(session, rule).id
    post = FakePost()
    sweep(bench(make_session, _noon, post), 10)
    execution = _get(make_session, id_)
    assert not post.sent
    assert execution.state is ExecutionState.FAILED
    assert execution.reason is Reason.MISSING_VARIABLE
    assert "meeting_url" in (execution.error or "")


def test_what_waited_too_long_behind_others_is_looked_at_again(
    make_session: Sessions,
) -> None:
    """Eight that hang fill the threads; meanwhile the booking is cancelled."""
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        ids = [factories.execution(session, rule).id for _ in range(AT_ONCE + 4)]
    gate = threading.Barrier(AT_ONCE, action=lambda: _cancel_late(make_session, tenant))
    post = FakePost(lambda _envelope: (gate.wait(10), Done(250))[1])
    patient = bench(make_session, _noon, post)
    for _ in range(50):
        patient.pace.took(timedelta(microseconds=1))  # as if all were quick

    result = sweep(patient, len(ids))

    assert len(result.succeeded) == AT_ONCE
    assert len(result.skipped) == 4
    assert len(post.sent) == AT_ONCE
    for id_ in result.skipped:
        [attempt] = _attempts(make_session, id_)
        assert attempt.effect_started_at is None
        with make_session() as session:
            assert session.get(ExecutionMessage, id_) is None


def _cancel_late(make_session: Sessions, tenant: UUID) -> None:
    with make_session.begin() as session:
        booking = session.get_one(Booking, (tenant, "b1"))
        booking.status = BookingStatus.CANCELLED
    time.sleep(FRESH_SECONDS)


def test_a_few_that_could_not_begin_at_once_are_looked_at_again(
    make_session: Sessions,
) -> None:
    id_ = _one(make_session)
    slow = iter([FRESH_SECONDS])

    @contextmanager
    def begin() -> Iterator[Session]:
        with make_session.begin() as session:
            yield session
        time.sleep(next(slow, 0))  # the commit of the claim takes long

    post = FakePost()
    swept = sweep(replace(bench(make_session, _noon, post), begin=begin), 10)

    assert swept.succeeded == (id_,)
    assert len(post.sent) == 1
    assert _get(make_session, id_).attempt == 1


def test_a_slow_database_keeps_nothing_from_beginning(
    engine: Engine, make_session: Sessions
) -> None:
    id_ = _one(make_session)
    slow: list[str] = []

    def write(*told: Any) -> None:
        if told[2].startswith("UPDATE executions"):  # between the guard and the effect
            slow.append(told[2])
            assert len(slow) < 10, "it is looked at again and again"
            time.sleep(FRESH_SECONDS)

    event.listen(engine, "before_cursor_execute", write)
    post = FakePost()

    swept = sweep(bench(make_session, _noon, post), 10)

    assert swept.succeeded == (id_,)
    assert len(post.sent) == 1


@pytest.mark.parametrize(("taken_over", "is_kept"), [(False, False), (True, True)])
def test_a_message_is_forgotten_only_while_the_row_is_still_ours(
    make_session: Sessions, taken_over: bool, is_kept: bool
) -> None:
    id_, stale = _claim_one(make_session)
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
