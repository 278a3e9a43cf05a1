"""Holds: nothing leaves while one is set, nothing is lost, and it goes with a plan."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Envelope
from tasks.db import CongregationSession, set_scope
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.executing.running import AT_ONCE, FRESH_SECONDS
from tasks.holds.looking import FIRST_LOOK, LONGEST_LOOK, active, closed
from tasks.holds.plans import Chosen, Plan, held_by, lift_with, outlook
from tasks.holds.setting import What, hold
from tasks.lanes import operations
from tasks.lanes.executions import sweep
from tasks.models import (
    Attempt,
    AttemptOutcome,
    AuditEntry,
    BookingStatus,
    Channel,
    Execution,
    ExecutionState,
    Hold,
    Operation,
    Reason,
    Rule,
    new_id,
)
from tasks.operations import starting, steering
from tasks.operations.audit import Actor
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ANNA = Actor("anna@example.org")
S = ExecutionState


def _at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def _made(session: Session, n: int = 1, slug: str = "a", **values: Any) -> Rule:
    tenant = factories.congregation(session, slug)
    factories.booking(session, tenant)
    rule = factories.rule(session, tenant, **values)
    for _ in range(n):
        factories.execution(session, rule)
    return rule


def _hold(make_session: Sessions, what: What | None = None, **values: Any) -> UUID:
    with make_session.begin() as session:
        row = hold(session, what or What(), "Wrong text", ANNA, now=NOW, **values)
        return row.id


def _lift(
    make_session: Sessions, id_: UUID, plan: Plan, minutes: int = 30
) -> Operation | None:
    chosen = Chosen(plan, minutes, new_id(), NOW)
    with make_session.begin() as session:
        return lift_with(session, id_, chosen, ANNA, now=NOW)


def _all(make_session: Sessions) -> list[Execution]:
    with make_session() as session:
        return list(session.scalars(select(Execution).order_by(Execution.id)))


def test_what_is_held_waits_with_its_reason_and_uses_up_no_try(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        _made(session, 2)
    _hold(make_session)
    post = FakePost()

    result = sweep(bench(make_session, _at(NOW), post), 10)

    assert len(result.deferred) == 2
    assert not post.sent
    for row in _all(make_session):
        assert (row.state, row.reason, row.failures) == (S.PENDING, Reason.HELD, 0)
        assert row.error == "Held by anna@example.org: Wrong text"
        assert row.run_at == NOW + FIRST_LOOK
        assert row.due_at == NOW
    with make_session() as session:
        outcomes = set(session.scalars(select(Attempt.outcome)))
        begun = session.scalars(select(Attempt.effect_started_at)).all()
    assert outcomes == {AttemptOutcome.DEFERRED}
    assert begun == [None, None]


def test_nothing_more_is_sent_once_a_hold_is_set_in_the_middle_of_a_batch(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        _made(session, AT_ONCE + 4)

    first, is_held = threading.Lock(), threading.Event()

    def answer(_envelope: Envelope) -> Done:
        if first.acquire(blocking=False):
            _hold(make_session)
            time.sleep(FRESH_SECONDS)  # what was looked at before is looked at anew
            is_held.set()
        is_held.wait(30)
        return Done(250)

    post = FakePost(answer)
    patient = bench(make_session, _at(NOW), post)
    for _ in range(50):
        patient.pace.took(timedelta(microseconds=1))  # as if all were quick

    result = sweep(patient, AT_ONCE + 4)

    assert 1 <= len(post.sent) == len(result.succeeded) <= AT_ONCE
    assert len(result.deferred) == AT_ONCE + 4 - len(post.sent)


def test_a_hold_covers_its_scope_and_nothing_else(make_session: Sessions) -> None:
    with make_session.begin() as session:
        first, second = _made(session, 1), _made(session, 1, "b")
        hooks = factories.rule(
            session,
            first.congregation_id,
            name="Hook",
            action="webhook",
            settings={"url": "https://example.org/hook"},
        )
        factories.execution(session, hooks)
        of_a, of_b = first.congregation_id, second.congregation_id
        ids = (first.id, second.id, hooks.id)
    for what, held in (
        (What(congregation_id=of_a), {0, 2}),
        (What(channel=Channel.WEBHOOK), {2}),
        (What(congregation_id=of_b, channel=Channel.WEBHOOK), set()),
        (What(rule_id=ids[1]), {1}),
        (What(channel=Channel.DELIVERIES), set()),
    ):
        id_ = _hold(make_session, what)
        sweep(bench(make_session, _at(NOW), FakePost()), 10)
        rows = {row.rule_id: row for row in _all(make_session)}
        waiting = {n for n, id_ in enumerate(ids) if rows[id_].state is S.PENDING}
        assert waiting == held, what
        with make_session.begin() as session:
            session.get_one(Hold, id_).lifted_at = NOW
            for row in session.scalars(select(Execution)):
                row.state, row.run_at, row.settled_at = S.PENDING, NOW, None


def test_a_hold_with_an_end_ends_by_itself(make_session: Sessions) -> None:
    with make_session.begin() as session:
        _made(session)
    end = NOW + timedelta(minutes=5)
    _hold(make_session, until=end)
    sweep(bench(make_session, _at(NOW), FakePost()), 10)
    assert _all(make_session)[0].run_at == end

    result = sweep(bench(make_session, _at(end), FakePost()), 10)

    assert len(result.succeeded) == 1
    assert _all(make_session)[0].reason is None


def test_what_is_held_long_is_looked_at_rarely(make_session: Sessions) -> None:
    _hold(make_session)
    with make_session() as session:
        [found] = active(session, NOW)
    for held_for, wait in (
        (timedelta(minutes=1), FIRST_LOOK),
        (timedelta(hours=3), timedelta(hours=3)),
        (timedelta(days=9), LONGEST_LOOK),
    ):
        now = NOW + held_for
        assert found.look_again_at(now) == now + wait


def test_lifting_sends_what_is_of_use_and_ends_the_rest_with_its_reason(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        rule = _made(session, 2)
        factories.booking(
            session, rule.congregation_id, id="b2", status=BookingStatus.CANCELLED
        )
        factories.execution(session, rule, booking_id="b2")
        matching = held_by(Hold(rule_id=rule.id))
    id_ = _hold(make_session)
    # The cancelled one ends at once: a hold keeps nothing alive.
    sweep(bench(make_session, _at(NOW), FakePost()), 10)
    with make_session.begin() as session:
        row = session.scalars(select(Execution).filter_by(booking_id="b2")).one()
        assert row.reason is Reason.BOOKING_CANCELLED
        row.state, row.reason, row.settled_at = S.PENDING, Reason.HELD, None
        told = outlook(session, matching, NOW)
    assert (told.n_looked, told.n_useful, len(told.samples)) == (3, 2, 2)
    assert told.stops == {"The booking was cancelled.": 1}

    operation = _lift(make_session, id_, Plan.SEND)

    assert operation is not None
    assert (operation.n_changed, operation.n_skipped) == (2, 1)
    assert list(operation.skipped) == ["The booking was cancelled."]
    post = FakePost()
    sweep(bench(make_session, _at(NOW), post), 10)
    assert len(post.sent) == 2
    with make_session() as session:
        found = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert found == ["hold.set", "hold.lifted", "operation.started", "operation.ended"]


def test_what_waited_is_spread_evenly(make_session: Sessions) -> None:
    with make_session.begin() as session:
        _made(session, 4)
    id_ = _hold(make_session)
    sweep(bench(make_session, _at(NOW), FakePost()), 10)

    _lift(make_session, id_, Plan.SPREAD, 20)

    rows = _all(make_session)
    minutes = [(row.run_at - rows[0].run_at) for row in rows]
    assert minutes == [timedelta(minutes=5 * n) for n in range(4)]
    assert {row.reason for row in rows} == {None}


@pytest.mark.parametrize(
    ("resumed_at", "third_at"), [(2, 10), (60, 60)], ids=["in time", "late"]
)
def test_what_is_left_of_a_stopped_plan_is_spread_over_what_is_left_of_its_time(
    make_session: Sessions,
    monkeypatch: pytest.MonkeyPatch,
    resumed_at: int,
    third_at: int,
) -> None:
    monkeypatch.setattr(starting, "PIECE", 1)
    with make_session.begin() as session:
        _made(session, 4)
    id_ = _hold(make_session)
    sweep(bench(make_session, _at(NOW), FakePost()), 10)
    operation = _lift(make_session, id_, Plan.SPREAD, 20)
    assert operation is not None

    operations.sweep(bench(make_session, _at(NOW), FakePost()), 2)
    with make_session.begin() as session:
        steering.stop(session, operation.id, ANNA, now=NOW)
    late = NOW + timedelta(minutes=resumed_at)
    with make_session.begin() as session:
        steering.resume(session, operation.id, ANNA, now=late)
    for _ in range(2):  # each piece goes on where the one before it has ended
        operations.sweep(bench(make_session, _at(late), FakePost()), 1)

    minutes = [(row.run_at - NOW) / timedelta(minutes=1) for row in _all(make_session)]
    assert minutes == [0, 5, third_at, third_at + 5]


def test_more_than_is_counted_elsewhere_is_spread_over_the_time_that_was_chosen(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "COUNT_CAP", 2)
    with make_session.begin() as session:
        _made(session, 4)
    id_ = _hold(make_session)
    sweep(bench(make_session, _at(NOW), FakePost()), 10)

    _lift(make_session, id_, Plan.SPREAD, 20)

    rows = _all(make_session)
    assert rows[-1].run_at - rows[0].run_at == timedelta(minutes=15)


def test_what_waited_is_dropped_but_not_what_another_hold_covers(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        rule, other = _made(session), _made(session, 1, "b")
        ids = {"held": other.id, "free": rule.id}
    id_ = _hold(make_session)
    _hold(make_session, What(rule_id=ids["held"]))
    sweep(bench(make_session, _at(NOW), FakePost()), 10)

    operation = _lift(make_session, id_, Plan.DROP)

    assert operation is not None
    assert (operation.n_changed, operation.n_skipped) == (1, 1)
    rows = {row.rule_id: row for row in _all(make_session)}
    assert rows[ids["free"]].state is S.CANCELLED
    assert rows[ids["held"]].reason is Reason.HELD


def test_lifting_twice_or_with_nothing_waiting_moves_nothing(
    make_session: Sessions,
) -> None:
    id_ = _hold(make_session)
    assert _lift(make_session, id_, Plan.SEND) is None
    assert _lift(make_session, id_, Plan.DROP) is None
    with make_session() as session:
        lifted = session.scalars(select(AuditEntry).filter_by(action="hold.lifted"))
        assert len(lifted.all()) == 1
    with pytest.raises(NotFound):
        _lift(make_session, new_id(), Plan.SEND)
    with make_session.begin() as session:
        _made(session)
    id_ = _hold(make_session)
    sweep(bench(make_session, _at(NOW), FakePost()), 10)
    with pytest.raises(InvalidInput, match="minutes"):
        _lift(make_session, id_, Plan.SPREAD, 0)


@pytest.mark.parametrize(
    ("why", "until", "code"),
    [
        (" ", None, "why_missing"),
        ("x" * 301, None, "why_too_long"),
        ("x", NOW, "until_past"),
        ("x", NOW + timedelta(days=91), "until_far"),
    ],
)
def test_a_hold_needs_a_reason_and_a_sensible_end(
    make_session: Sessions, why: str, until: datetime | None, code: str
) -> None:
    with make_session.begin() as session, pytest.raises(InvalidInput) as refused:
        hold(session, What(), why, ANNA, until=until, now=NOW)
    assert refused.value.code == code


def test_a_hold_is_set_once_and_only_on_what_is_seen(make_session: Sessions) -> None:
    with make_session.begin() as session:
        own, strange = _made(session), _made(session, 1, "b")
        a, b, rule_id = own.congregation_id, strange.congregation_id, strange.id
    _hold(make_session)
    with pytest.raises(Conflict):
        _hold(make_session)
    with CongregationSession(make_session.kw["bind"]) as session:
        set_scope(session, frozenset({a}))
        for what, error in (
            (What(congregation_id=b), NotFound),
            (What(rule_id=rule_id), NotFound),
            (What(), InvalidInput),
        ):
            with pytest.raises(error):
                hold(session, what, "x", ANNA, now=NOW)
        hold(session, What(congregation_id=a), "x", ANNA, now=NOW)


def test_channels_without_rules_are_closed_for_whom_they_are_held(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        a = _made(session).congregation_id
    _hold(make_session, What(congregation_id=a))
    with make_session() as session:
        mails = closed(session, Channel.NOTIFICATIONS, NOW)
        assert (mails.everything, mails.congregations) == (False, {a})
        assert not closed(session, None, NOW).everything
    _hold(make_session)
    with make_session() as session:
        assert closed(session, Channel.DELIVERIES, NOW).everything
        assert closed(session, None, NOW).everything
