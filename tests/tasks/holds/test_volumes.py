"""A rule that makes far more than usual is held until somebody has looked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, insert, select, text
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import sessions
from tasks.errors import InvalidInput
from tasks.holds.flooding import LIMIT_MAX, limit_volume, watch_volume
from tasks.holds.plans import Chosen, Plan, lift_with
from tasks.holds.volumes import FACTOR, KEEP, LEAST
from tasks.lanes import executions, volumes
from tasks.models import (
    AuditEntry,
    Execution,
    ExecutionState,
    Hold,
    HoldKind,
    Measure,
    Reason,
    RuleVolume,
    VolumeLimit,
    VolumeLook,
    new_id,
)
from tasks.operations.audit import Actor
from tests.support import factories
from tests.support.counted import counted
from tests.support.fakes import FakePost, bench
from tests.support.processes import until

Sessions = sessionmaker[Session]
ANNA = Actor("anna@example.org")
MINUTE = timedelta(minutes=1)
NOW = factories.NOW + 30 * MINUTE  # in the middle of an hour


@pytest.fixture
def rule_id(make_session: Sessions) -> UUID:
    """Return a rule that made 10 an hour two days ago, looked at a minute ago."""
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        hour = factories.NOW - timedelta(days=2)
        known = {"rule_id": rule.id, "congregation_id": tenant}
        session.add(RuleVolume(**known, hour=hour, n=10))
        session.add(VolumeLook(id=1, counted_until=NOW - MINUTE))
        return rule.id


def _make(make_session: Sessions, rule_id: UUID, n: int, at: datetime) -> None:
    with make_session.begin() as session:
        rule = session.get_one(factories.Rule, rule_id)
        rows = [
            {
                "id": new_id(at),
                "congregation_id": rule.congregation_id,
                "rule_id": rule.id,
                "rule_version": 1,
                "trigger_type": rule.trigger_type,
                "action": "email",
                "step": 0,
                "podcast_id": "show",
                "booking_id": "b1",
                "idempotency_key": str(new_id()),
                "state": ExecutionState.PENDING,
                "due_at": at,
                "run_at": at,
                "attempt": 0,
                "failures": 0,
                "crashes": 0,
                "max_attempts": 5,
                "created_at": at,
            }
            for _ in range(n)
        ]
        session.execute(insert(Execution), rows)


def _look(make_session: Sessions, at: datetime = NOW) -> tuple[UUID, ...]:
    return volumes.sweep(bench(make_session, lambda: at, FakePost()), 1).held


def _holds(make_session: Sessions) -> list[Hold]:
    with make_session() as session:
        return list(session.scalars(select(Hold).order_by(Hold.id)))


def test_two_workers_may_both_be_the_first_to_look(postgres_engine: Engine) -> None:
    make_session = sessions(postgres_engine)
    with ThreadPoolExecutor(1) as pool, make_session() as first:
        first.add(VolumeLook(id=1, counted_until=NOW - MINUTE))
        first.flush()
        second = pool.submit(_look, make_session)
        waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        until(lambda: second.done() or first.scalar(waits))
        first.commit()
        assert second.result(30) == ()


def test_a_flood_is_held_once_and_the_rest_of_it_waits(
    make_session: Sessions, rule_id: UUID
) -> None:
    _make(make_session, rule_id, LEAST + 1, NOW - MINUTE / 2)

    assert _look(make_session) == (rule_id,)
    assert _look(make_session, NOW + MINUTE) == ()

    assert counted(make_session, "volumes") == {Measure.SKIPPED: 1}
    [row] = _holds(make_session)
    assert (row.kind, row.n_seen, row.n_usual) == (HoldKind.VOLUME, LEAST + 1, 10)
    assert row.why == "201 executions within an hour; the busiest hour before had 10."
    post = FakePost()
    executions.sweep(bench(make_session, lambda: NOW, post), 10)
    assert not post.sent
    with make_session() as session:
        held = session.scalars(select(Execution).filter_by(reason=Reason.HELD)).all()
        assert len(held) == 10
        deed = session.scalars(select(AuditEntry)).one()
        assert (deed.action, deed.actor) == ("hold.set", "system")


def test_an_approval_lets_as_many_more_go(
    make_session: Sessions, rule_id: UUID
) -> None:
    _make(make_session, rule_id, LEAST + 1, NOW - MINUTE / 2)
    _look(make_session)
    [row] = _holds(make_session)
    _make(make_session, rule_id, LEAST, NOW + MINUTE / 2)
    _look(make_session, NOW + MINUTE)
    with make_session.begin() as session:
        chosen = Chosen(Plan.SEND, 0, new_id(), NOW)
        lift_with(session, row.id, chosen, ANNA, now=NOW + MINUTE)
    assert _holds(make_session)[0].n_seen == 2 * LEAST + 1

    _make(make_session, rule_id, LEAST, NOW + 2 * MINUTE)
    assert _look(make_session, NOW + 3 * MINUTE) == ()
    _make(make_session, rule_id, 1, NOW + 4 * MINUTE)
    assert _look(make_session, NOW + 5 * MINUTE) == (rule_id,)


def test_what_is_usual_or_not_known_yet_goes(
    make_session: Sessions, rule_id: UUID
) -> None:
    _make(make_session, rule_id, LEAST, NOW - MINUTE / 2)
    assert _look(make_session) == ()
    with make_session.begin() as session:
        busy = session.scalars(select(RuleVolume).filter_by(n=10)).one()
        busy.n = LEAST  # five times that is usual
    _make(make_session, rule_id, LEAST * (FACTOR - 1), NOW + MINUTE / 2)
    assert _look(make_session, NOW + MINUTE) == ()
    with make_session.begin() as session:
        session.scalars(select(RuleVolume).filter_by(n=LEAST)).one().hour = NOW - (
            timedelta(hours=23)
        )
    _make(make_session, rule_id, LEAST * FACTOR, NOW + 2 * MINUTE)
    assert _look(make_session, NOW + 3 * MINUTE) == ()  # it has hardly begun


def test_an_operator_sets_the_limit_switches_it_off_and_gives_it_back(
    make_session: Sessions, rule_id: UUID
) -> None:
    with make_session.begin() as session:
        limit_volume(session, rule_id, None, ANNA, now=NOW)
    _make(make_session, rule_id, LEAST * FACTOR, NOW - MINUTE / 2)
    assert _look(make_session) == ()
    with make_session.begin() as session:
        limit_volume(session, rule_id, LEAST * FACTOR + 1, ANNA, now=NOW)
    _make(make_session, rule_id, 1, NOW + MINUTE / 2)
    assert _look(make_session, NOW + MINUTE) == ()
    _make(make_session, rule_id, 1, NOW + 2 * MINUTE)
    assert _look(make_session, NOW + 3 * MINUTE) == (rule_id,)
    assert "more than 1001 are held" in _holds(make_session)[0].why
    with make_session.begin() as session:
        watch_volume(session, rule_id, ANNA)
        watch_volume(session, rule_id, ANNA)
        assert session.get(VolumeLimit, rule_id) is None
    for wrong in (0, LIMIT_MAX + 1):
        with make_session.begin() as session, pytest.raises(InvalidInput):
            limit_volume(session, rule_id, wrong, ANNA, now=NOW)


def test_nothing_is_counted_twice_and_old_hours_are_forgotten(
    make_session: Sessions, rule_id: UUID
) -> None:
    with make_session.begin() as session:
        old = session.scalars(select(RuleVolume)).one()
        old.hour = NOW - KEEP - timedelta(hours=1)
        session.get_one(VolumeLook, 1).counted_until = NOW - timedelta(minutes=45)
    _make(make_session, rule_id, 3, NOW - MINUTE / 2)
    for minutes in range(3):
        _look(make_session, NOW + minutes * MINUTE)
    with make_session() as session:
        rows = session.execute(select(RuleVolume.hour, RuleVolume.n)).all()
    assert [tuple(row) for row in rows] == [(factories.NOW, 3)]
