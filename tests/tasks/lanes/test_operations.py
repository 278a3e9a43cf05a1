"""The lane ``operations``: many rows, piece by piece, stopped, resumed, never twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, func, insert, select, text
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.events import AutomationEvent, emit_events
from tasks.db import CongregationSession, set_scope
from tasks.lanes import operations
from tasks.models import (
    AuditEntry,
    Decision,
    Event,
    Execution,
    ExecutionState,
    Measure,
    Operation,
    OperationKind,
    OperationState,
    Rule,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.kinds import Asked
from tasks.operations.single import Answer
from tasks.operations.starting import start
from tasks.operations.steering import resume, stop
from tests.support import factories
from tests.support.counted import counted
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ACTOR = Actor("ada@example.org")
NOW = factories.NOW
MANY = 5_000
S = ExecutionState


def _rule(session: Session, slug: str = "a", **values: object) -> Rule:
    house = factories.congregation(session, slug)
    factories.booking(session, house)
    return factories.rule(session, house, **values)


def _executions(
    session: Session, rule: Rule, n: int, state: ExecutionState, mark: str = "row"
) -> None:
    """Insert ``n`` settled executions at once."""
    rows = [
        {
            "id": new_id(NOW),
            "congregation_id": rule.congregation_id,
            "rule_id": rule.id,
            "rule_version": 1,
            "trigger_type": rule.trigger_type,
            "action": "email",
            "step": 0,
            "podcast_id": "show",
            "booking_id": "b1",
            "recipient": "guest@example.org",
            "idempotency_key": f"{mark}:{number}",
            "state": state,
            "due_at": NOW,
            "run_at": NOW,
            "attempt": 1,
            "failures": 1,
            "crashes": 0,
            "max_attempts": 5,
            "settled_at": NOW,
            "created_at": NOW,
        }
        for number in range(n)
    ]
    session.execute(insert(Execution), rows)
    session.execute(text("ANALYZE"))  # else PostgreSQL plans for an empty table


def _start(session: Session, kind: OperationKind, **values: object) -> UUID:
    why = str(values.pop("why", ""))
    asked = Asked(kind, values.pop("matching", {}), NOW, **values)  # type: ignore[arg-type]
    return start(session, new_id(), asked, ACTOR, why=why, now=NOW).id


def _sweep(make_session: Sessions, at: datetime = NOW) -> operations.OperationSweep:
    return operations.sweep(bench(make_session, lambda: at, FakePost()), limit=200)


def _drain(make_session: Sessions, at: datetime = NOW) -> int:
    """Sweep until nothing is left; returns how many pieces that took."""
    n = 0
    while _sweep(make_session, at) != operations.OperationSweep():
        n += 1
    return n


def _operation(make_session: Sessions, id_: UUID) -> Operation:
    with make_session() as session:
        return session.get_one(Operation, id_)


def test_a_replay_of_5_000_events_is_stopped_resumed_and_does_nothing_twice(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        rule = _rule(session, enabled=False)
        payloads = [
            AutomationEvent(
                "booking.confirmed",
                "show",
                booking_id="b1",
                event_id=f"e{number}",
                congregation_id=rule.congregation_id,
            )
            for number in range(MANY)
        ]
        for begin in range(0, MANY, 500):
            emit_events(session, payloads[begin : begin + 500], now=NOW)
        assert session.scalar(select(func.count()).select_from(Execution)) == 0
        rule.enabled = True
        id_ = _start(session, OperationKind.REPLAY_EVENTS)

    for _ in range(10):
        _sweep(make_session)
    with make_session.begin() as session:
        assert stop(session, id_, ACTOR, now=NOW) is Answer.DONE
    assert _sweep(make_session) == operations.OperationSweep()
    halfway = _operation(make_session, id_)
    assert (halfway.state, halfway.n_done) == (OperationState.STOPPED, 2_000)
    with make_session() as session:
        assert session.scalar(select(func.count()).select_from(Execution)) == 2_000

    with make_session.begin() as session:
        assert resume(session, id_, ACTOR, now=NOW) is Answer.DONE
    assert _drain(make_session) == 16  # fifteen pieces, and a look behind the last
    done = _operation(make_session, id_)
    assert (done.state, done.n_total) == (OperationState.DONE, MANY)
    assert (done.n_done, done.n_changed, done.n_made) == (MANY, MANY, MANY)
    with make_session() as session:
        per_event = Counter(session.scalars(select(Execution.event_id)))
        assert len(per_event) == MANY
        assert set(per_event.values()) == {1}
        entries = session.scalars(
            select(AuditEntry.action).order_by(AuditEntry.id)
        ).all()
    assert entries == [
        "operation.started",
        "operation.stopped",
        "operation.resumed",
        "operation.ended",
    ]


def test_a_second_replay_makes_nothing_and_says_why(make_session: Sessions) -> None:
    with make_session.begin() as session:
        rule = _rule(session)
        payloads = [
            AutomationEvent(
                "booking.confirmed",
                "show",
                booking_id="b1",
                event_id=f"e{number}",
                congregation_id=rule.congregation_id,
            )
            for number in range(300)
        ]
        emit_events(session, payloads, now=NOW)
        id_ = _start(session, OperationKind.REPLAY_EVENTS)
    _drain(make_session)
    done = _operation(make_session, id_)
    assert (done.n_done, done.n_changed) == (300, 0)
    ((why, skipped),) = done.skipped.items()
    assert "acted on it already" in why
    assert (skipped["n"], len(skipped["ids"])) == (300, 5)
    with make_session() as session:
        reasons = Counter(session.scalars(select(Decision.reason)))
        assert reasons == {None: 300, "duplicate": 300}
        assert session.scalar(select(func.count()).select_from(Event)) == 300


def test_a_sending_again_of_5_000_makes_one_more_of_each(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        _executions(session, _rule(session), MANY, S.SUCCEEDED)
        kind = OperationKind.REPLAY_EXECUTIONS
        id_ = _start(session, kind, is_again=True, why="The server lost them.")
    for _ in range(3):
        _sweep(make_session)
    with make_session.begin() as session:
        stop(session, id_, ACTOR, now=NOW)
        resume(session, id_, ACTOR, now=NOW)
    _drain(make_session)
    with make_session() as session:
        keys = Counter(session.scalars(select(Execution.idempotency_key)))
    assert len(keys) == 2 * MANY
    again = {key for key in keys if key.endswith(f":again:{id_}")}
    assert again == {f"row:{number}:again:{id_}" for number in range(MANY)}


_DYING = """
import sys
from sqlalchemy import make_url
from tasks.db import make_engine, sessions
from tasks.lanes import operations
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

made = sessions(make_engine(make_url(sys.argv[1])))
operations.sweep(bench(made, lambda: NOW, FakePost()), limit=200)
"""


def _die(engine: Engine) -> None:
    """Sweep in a process that is killed right before it commits its piece."""
    url = engine.url.render_as_string(hide_password=False)
    environment = os.environ | {"CRASH_AT": "in_operation", "CARILLON_ENV": "test"}
    command = [sys.executable, "-c", _DYING, url]
    died = subprocess.run(command, env=environment, check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL


def test_a_killed_worker_loses_its_piece_and_the_next_one_does_it(
    engine: Engine, make_session: Sessions
) -> None:
    with make_session.begin() as session:
        _executions(session, _rule(session), 500, S.CANCELLED)
        id_ = _start(session, OperationKind.REPLAY_EXECUTIONS)
    _sweep(make_session)
    _die(engine)
    left = _operation(make_session, id_)
    assert (left.state, left.n_done) == (OperationState.RUNNING, 200)
    assert _sweep(make_session) == operations.OperationSweep()  # its lease holds
    _drain(make_session, NOW + timedelta(seconds=61))
    done = _operation(make_session, id_)
    assert (done.state, done.n_done, done.n_made) == (OperationState.DONE, 500, 500)
    with make_session() as session:
        keys = Counter(session.scalars(select(Execution.idempotency_key)))
    assert set(keys.values()) == {1}
    assert sum(key.endswith(":replay") for key in keys) == 500


def test_what_fails_at_one_piece_again_and_again_is_given_up(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_session.begin() as session:
        _executions(session, _rule(session), 201, S.FAILED)
        id_ = _start(session, OperationKind.RETRY_EXECUTIONS)

    def breaks(*_: object, **__: object) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr(operations, "work", breaks)
    at = NOW
    for _ in range(operations.TRIES_MAX):
        with pytest.raises(ZeroDivisionError):
            _sweep(make_session, at)
        at += timedelta(seconds=61)
    assert _sweep(make_session, at).failed == (id_,)
    monkeypatch.undo()
    failed = _operation(make_session, id_)
    assert failed.state is OperationState.FAILED
    assert "failed 5 times" in str(failed.error)
    assert counted(make_session, "operations") == {Measure.FAILED: 1}
    with make_session.begin() as session:
        resume(session, id_, ACTOR, now=at)
    _drain(make_session, at)
    assert _operation(make_session, id_).n_changed == 201


def test_operations_take_turns(make_session: Sessions) -> None:
    with make_session.begin() as session:
        rule = _rule(session)
        _executions(session, rule, 401, S.FAILED, "failed")
        _executions(session, rule, 401, S.CANCELLED, "cancelled")
        first = _start(session, OperationKind.RETRY_EXECUTIONS)
        replay = OperationKind.REPLAY_EXECUTIONS
        second = _start(session, replay, matching={"state": "cancelled"})
    clock = iter(NOW + timedelta(seconds=n) for n in range(1, 9))
    turns = [_sweep(make_session, next(clock)) for _ in range(4)]
    assert [turn.continued for turn in turns] == [
        (first,),
        (second,),
        (first,),
        (second,),
    ]


# SQLite has one writer at a time.
@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_two_workers_at_once_share_no_rows(make_session: Sessions) -> None:
    with make_session.begin() as session:
        _executions(session, _rule(session), 401, S.FAILED)
        id_ = _start(session, OperationKind.RETRY_EXECUTIONS)
    with make_session.begin() as session:
        session.get(Operation, id_, with_for_update=True)
        assert _sweep(make_session) == operations.OperationSweep()
    _drain(make_session)
    assert _operation(make_session, id_).n_done == 401


def test_the_backlog_counts_open_operations(
    engine: Engine, make_session: Sessions, noon: Callable[[], datetime]
) -> None:
    with make_session.begin() as session:
        _executions(session, _rule(session), 201, S.FAILED)
        _start(session, OperationKind.RETRY_EXECUTIONS)
        waiting = operations.backlog(session, noon())
        assert (waiting.n_due, waiting.oldest_due_at) == (1, NOW)
    with CongregationSession(engine) as session:
        set_scope(session, frozenset({new_id()}))  # somebody else's
        assert operations.backlog(session, noon()).n_due == 0
    _drain(make_session)
    with make_session() as session:
        assert operations.backlog(session, noon()).n_due == 0
