"""Whatever fails for good is counted once, in the group of its cause."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.errors import InvalidInput, NotFound
from tasks.failures.groups import acknowledge, asks, find, reopen
from tasks.failures.noting import Failure, note_executions
from tasks.lanes import executions, rescue
from tasks.models import (
    AuditEntry,
    Execution,
    ExecutionState,
    FailedExecution,
    FailureGroup,
    FailureHour,
    Reason,
    Rule,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.executions import retry_execution
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
INES = Actor("ines@example.org")
HOUR = NOW.replace(minute=0)


def _clock() -> datetime:
    return NOW


def _refusing(envelope: Envelope) -> Outcome:
    """Refuse each for a reason with something of its own in it."""
    return GiveUp(Reason.REFUSED, f"550 no such box in {envelope.execution_id}", 550)


def _pending(make_session: Sessions, n: int, slug: str = "a") -> list[UUID]:
    with make_session.begin() as session:
        tenant = factories.congregation(session, slug)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant, max_attempts=1)
        return [
            factories.execution(session, rule, idempotency_key=f"{slug}{k}").id
            for k in range(n)
        ]


def _sweep(make_session: Sessions, post: FakePost) -> None:
    executions.sweep(bench(make_session, _clock, post), 100)


def _groups(make_session: Sessions) -> list[FailureGroup]:
    with make_session() as session:
        order = (FailureGroup.congregation_id, FailureGroup.cause)
        return list(session.scalars(select(FailureGroup).order_by(*order)))


def test_what_failed_alike_is_one_group_with_its_hours(make_session: Sessions) -> None:
    ids = _pending(make_session, 5)
    _sweep(make_session, FakePost(_refusing))

    [group] = _groups(make_session)
    assert (group.n, group.first_at, group.last_at) == (5, NOW, NOW)
    assert group.cause == "550 no such box in <id>"
    assert (group.action, group.reason) == ("email", Reason.REFUSED)
    with make_session() as session:
        hours = session.execute(select(FailureHour.hour, FailureHour.n)).all()
        members = session.scalars(select(FailedExecution.execution_id)).all()
    assert hours == [(HOUR, 5)]
    assert set(members) == set(ids)


def test_congregations_and_causes_are_kept_apart(make_session: Sessions) -> None:
    mine, theirs = _pending(make_session, 4, "a"), _pending(make_session, 3, "b")
    odd = set(mine[:1])

    def answer(envelope: Envelope) -> Outcome:
        if UUID(str(envelope.execution_id)) in odd:
            return TryAgain("no answer")
        return _refusing(envelope)

    _sweep(make_session, FakePost(answer))

    assert sorted(group.n for group in _groups(make_session)) == [1, 3, 3]
    assert len(theirs) == 3


def test_what_succeeds_or_is_tried_again_leaves_nothing(make_session: Sessions) -> None:
    _pending(make_session, 1, "a")
    _sweep(make_session, FakePost(Done()))
    with make_session.begin() as session:
        rule = factories.rule(session, factories.congregation(session, "b"))
        factories.booking(session, rule.congregation_id)
        factories.execution(session, rule)
    _sweep(make_session, FakePost(TryAgain("later")))
    assert _groups(make_session) == []


def test_a_quarantined_execution_is_counted(make_session: Sessions) -> None:
    [id_] = _pending(make_session, 1)
    with make_session.begin() as session:
        row = session.get_one(Execution, id_)
        row.state, row.attempt, row.crashes = ExecutionState.RUNNING, 3, 2
        row.claimed_at = row.effect_at = NOW - timedelta(minutes=9)
        row.lease_until = NOW - timedelta(minutes=1)
    rescue.sweep(bench(make_session, _clock, FakePost()), 10)
    [group] = _groups(make_session)
    assert group.reason is Reason.WORKER_CRASHES


def test_a_retry_takes_it_off_until_it_fails_again(make_session: Sessions) -> None:
    [id_] = _pending(make_session, 1)
    _sweep(make_session, FakePost(_refusing))
    assert _asking(make_session) == 1
    with make_session.begin() as session:
        retry_execution(session, id_, INES, now=NOW)
    assert _asking(make_session) == 0
    _sweep(make_session, FakePost(_refusing))
    assert _asking(make_session) == 1
    [group] = _groups(make_session)
    assert group.n == 2
    with make_session() as session:
        [member] = session.scalars(select(FailedExecution)).all()
    assert member.retried_at is None


def _asking(make_session: Sessions, now: datetime = NOW) -> int:
    with make_session() as session:
        return len(session.scalars(select(FailureGroup.id).where(asks(now))).all())


def test_who_takes_note_hears_of_it_when_it_fails_again(make_session: Sessions) -> None:
    _pending(make_session, 1, "a")
    _sweep(make_session, FakePost(_refusing))
    [group] = _groups(make_session)
    later = NOW + timedelta(hours=1)
    with make_session.begin() as session:
        assert acknowledge(session, [group.id], INES, note=" known ", now=NOW) == 1
    assert _asking(make_session, later) == 0
    _fail_again(make_session, group, later)
    assert _asking(make_session, later) == 1
    tomorrow = NOW + timedelta(days=1)
    with make_session.begin() as session:
        acknowledge(session, [group.id], INES, until=tomorrow, now=later)
    _fail_again(make_session, group, later + timedelta(hours=1))
    assert _asking(make_session, later + timedelta(hours=2)) == 0
    assert _asking(make_session, tomorrow) == 1, "it went on failing meanwhile"
    with make_session.begin() as session:
        assert reopen(session, group.id, INES)
        assert not reopen(session, group.id, INES)
        deeds = session.scalars(select(AuditEntry.action)).all()
    assert sorted(deeds) == [*["failure.acknowledged"] * 2, "failure.reopened"]


def _fail_again(make_session: Sessions, group: FailureGroup, at: datetime) -> None:
    with make_session.begin() as session:
        rule = session.get_one(Rule, group.rule_id)
        factories.execution(session, rule, created_at=at, due_at=at, run_at=at)
    executions.sweep(bench(make_session, lambda: at, FakePost(_refusing)), 10)


def test_writers_of_the_same_groups_do_not_wait_in_a_circle(
    make_session: Sessions,
) -> None:
    ids, n_causes = _pending(make_session, 80), 10
    with make_session() as session:
        of = session.scalars(select(Execution.congregation_id)).first()
        assert of is not None

    def note(part: list[UUID]) -> None:
        for start in range(0, len(part), n_causes):
            rows = [
                Failure(id_, of, Reason.REFUSED, f"cause {'abcdefghij'[n]}")
                for n, id_ in enumerate(part[start : start + n_causes])
            ]
            with make_session.begin() as session:
                # One begins where the other ends.
                note_executions(session, rows if part is half else rows[::-1], NOW)

    half, other = ids[:40], ids[40:]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(note, (half, other)))
    assert [group.n for group in _groups(make_session)] == [8] * n_causes


def test_a_note_that_cannot_be_kept_is_refused(make_session: Sessions) -> None:
    with make_session() as session:
        for values, code in (
            ({"note": "x" * 501}, "note_too_long"),
            ({"until": NOW}, "until_past"),
            ({"until": NOW + timedelta(days=400)}, "until_far"),
        ):
            with pytest.raises(InvalidInput) as caught:
                acknowledge(session, [new_id()], INES, now=NOW, **values)
            assert caught.value.code == code
        with pytest.raises(InvalidInput):
            acknowledge(session, [new_id() for _ in range(201)], INES, now=NOW)
        with pytest.raises(NotFound):
            find(session, new_id())
