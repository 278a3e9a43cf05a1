"""Retrying and cancelling executions: once each, recorded, and refused in words."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.db import Begin, congregation_session
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    AuditEntry,
    Execution,
    ExecutionState,
    OperationKind,
    Reason,
    Replay,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.bulk import SELECTED_MAX, Bulk
from tasks.operations.executions import (
    cancel_execution,
    retry_execution,
)
from tasks.operations.kinds import Asked
from tasks.operations.many import change_few, change_ticked, n_meant
from tasks.operations.matching import Matching
from tasks.operations.single import Answer
from tasks.operations.undoing_cancel import UNDO_WITHIN, undo_cancel
from tests.support import factories

ANNA = Actor("anna@example.org", "127.0.0.1")
RETRY = OperationKind.RETRY_EXECUTIONS
FAILED = {
    "state": ExecutionState.FAILED,
    "attempt": 5,
    "failures": 5,
    "crashes": 1,
    "reason": Reason.ATTEMPTS_USED_UP,
    "error": "The mail server said no.",
}


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    monkeypatch.setattr(doorbell, "_listeners", [heard.append])
    return heard


def _add(begin: Begin, n: int = 1, slug: str = "a", **values: object) -> list[UUID]:
    with begin() as session:
        rule = factories.rule(session, factories.congregation(session, slug))
        settled = {"settled_at": factories.NOW} | FAILED | values
        return [factories.execution(session, rule, **settled).id for _ in range(n)]


def _asked(matching: Matching, high_water: datetime) -> Asked:
    return Asked(RETRY, matching.as_json(), high_water)


def _entries(session: Session) -> list[AuditEntry]:
    return list(session.scalars(select(AuditEntry).order_by(AuditEntry.id)))


def test_a_retry_gives_all_attempts_back_but_keeps_the_fence(
    begin: Begin, now: datetime, bells: list[str]
) -> None:
    (id_,) = _add(begin)
    later = now + timedelta(hours=1)
    with begin() as session:
        assert retry_execution(session, id_, ANNA, now=later) is Answer.DONE
        assert bells == []
    assert bells == ["executions"]
    with begin() as session:
        row = session.get_one(Execution, id_)
        assert (row.state, row.run_at) == (ExecutionState.PENDING, later)
        assert (row.attempt, row.failures, row.crashes) == (5, 0, 0)
        assert (row.due_at, row.settled_at, row.reason) == (now, None, None)
        (entry,) = _entries(session)
        assert (entry.actor, entry.action) == (ANNA.name, "execution.retried")
        assert (entry.subject_id, entry.before, entry.after) == (
            str(id_),
            {"state": "failed", "failures": 5, "crashes": 1},
            {"state": "pending", "failures": 0, "crashes": 0},
        )


def test_a_second_press_is_answered_and_changes_nothing(
    begin: Begin, now: datetime
) -> None:
    (id_,) = _add(begin, state=ExecutionState.QUARANTINED)
    for expected in (Answer.DONE, Answer.ALREADY):
        with begin() as session:
            assert retry_execution(session, id_, ANNA, now=now) is expected
    with begin() as session:
        assert len(_entries(session)) == 1


@pytest.mark.parametrize("state", ["succeeded", "cancelled", "skipped"])
def test_what_ended_otherwise_is_not_retried(
    begin: Begin, now: datetime, state: str
) -> None:
    (id_,) = _add(begin, state=ExecutionState(state))
    with begin() as session, pytest.raises(Conflict) as refused:
        retry_execution(session, id_, ANNA, now=now)
    assert refused.value.code == "not_retryable"


def test_an_unknown_execution_is_not_found(begin: Begin, now: datetime) -> None:
    for verb in (retry_execution, cancel_execution):
        with begin() as session, pytest.raises(NotFound):
            verb(session, new_id(), ANNA, now=now)


def test_selected_ones_are_queued_and_the_others_counted(
    begin: Begin, now: datetime, bells: list[str]
) -> None:
    failed = _add(begin, 3)
    done = _add(begin, 1, "b", state=ExecutionState.SUCCEEDED)
    with begin() as session:
        chosen = [*failed, *done, new_id()]
        assert change_ticked(session, RETRY, chosen, ANNA, now=now) == Bulk(3, 2)
    assert bells == ["executions"]
    with begin() as session:
        (entry,) = _entries(session)
        assert entry.subject_id == "many"
        assert entry.after is not None
        assert entry.after["count"] == 3
        assert sorted(entry.after["ids"]) == sorted(map(str, failed))


@pytest.mark.parametrize("n", [0, SELECTED_MAX + 1])
def test_a_selection_has_at_least_one_and_a_limit(
    begin: Begin, now: datetime, n: int
) -> None:
    with begin() as session, pytest.raises(InvalidInput):
        change_ticked(session, RETRY, [new_id() for _ in range(n)], ANNA, now=now)


def test_all_that_match_are_queued_but_not_what_failed_since(
    begin: Begin, now: datetime
) -> None:
    ids = _add(begin, 3)
    (later,) = _add(begin, 1, "b", settled_at=now + timedelta(seconds=1))
    high_water = now
    with begin() as session:
        assert n_meant(session, _asked(Matching(), high_water)) == 3
        bulk = change_few(session, _asked(Matching(), high_water), ANNA, now=now)
        assert bulk == Bulk(3, 0)
    with begin() as session:
        states = {row.id: row.state for row in session.scalars(select(Execution))}
        assert all(states[id_] == ExecutionState.PENDING for id_ in ids)
        assert states[later] == ExecutionState.FAILED


def test_a_limit_takes_the_oldest_and_the_next_press_the_rest(
    begin: Begin, now: datetime
) -> None:
    _add(begin, 5)
    for expected in (3, 2, 0):
        with begin() as session:
            bulk = change_few(session, _asked(Matching(), now), ANNA, now=now, limit=3)
            assert bulk.n_done == expected


def test_more_than_one_chunk_goes_in_one_transaction(
    begin: Begin, now: datetime
) -> None:
    _add(begin, 1_100)
    with begin() as session:
        asked = _asked(Matching(), now)
        bulk = change_few(session, asked, ANNA, now=now, limit=2_000)
        assert bulk == Bulk(1_100, 0)
        session.flush()
        (entry,) = _entries(session)
        assert entry.after is not None
        assert entry.after["count"] == 1_100
        assert "ids" not in entry.after


def test_a_filter_narrows_what_is_retried(begin: Begin, now: datetime) -> None:
    _add(begin, 1, booking_id="b1")
    _add(begin, 1, "b", booking_id="b2", recipient="jörg@example.org")
    for matching in (
        Matching(booking_id="b2"),
        Matching(text="rg@EXAMPLE"),
        Matching(state="failed", text="b2"),
    ):
        with begin() as session:
            assert n_meant(session, _asked(matching, now)) == 1
    for matching in (Matching(state="succeeded"), Matching(text="%"), Matching("x")):
        with begin() as session:
            assert n_meant(session, _asked(matching, now)) == 0


def test_nobody_retries_another_congregations_executions(
    begin: Begin, engine: Engine, now: datetime
) -> None:
    _add(begin, 2)
    (other,) = _add(begin, 1, "b")
    with begin() as session:
        (mine,) = {
            row.congregation_id
            for row in session.scalars(select(Execution).where(Execution.id != other))
        }
    with congregation_session(engine, mine) as session:
        with pytest.raises(NotFound):
            retry_execution(session, other, ANNA, now=now)
        assert change_ticked(session, RETRY, [other], ANNA, now=now) == Bulk(0, 1)
        assert change_few(session, _asked(Matching(), now), ANNA, now=now) == Bulk(2, 0)
    with begin() as session:
        assert session.get_one(Execution, other).state == ExecutionState.FAILED
        assert [entry.congregation_id for entry in _entries(session)] == [mine]


def test_cancelling_says_who_and_why(begin: Begin, now: datetime) -> None:
    (id_,) = _add(begin, state=ExecutionState.PENDING, settled_at=None)
    for expected in (Answer.DONE, Answer.ALREADY):
        with begin() as session:
            assert cancel_execution(session, id_, ANNA, now=now) is expected
    with begin() as session:
        row = session.get_one(Execution, id_)
        assert (row.state, row.reason) == (ExecutionState.CANCELLED, Reason.OPERATOR)
        assert row.settled_at == now
        assert [entry.action for entry in _entries(session)] == ["execution.cancelled"]


@pytest.mark.parametrize("state", ["running", "succeeded", "failed", "skipped"])
def test_what_has_begun_is_not_cancelled(
    begin: Begin, now: datetime, state: str
) -> None:
    (id_,) = _add(begin, state=ExecutionState(state))
    with begin() as session, pytest.raises(Conflict) as refused:
        cancel_execution(session, id_, ANNA, now=now)
    assert refused.value.code == "not_cancellable"


def test_a_cancelling_is_undone_while_it_is_fresh_and_not_replayed(
    begin: Begin, now: datetime, bells: list[str]
) -> None:
    [id_] = _add(begin, state=ExecutionState.PENDING, settled_at=None, reason=None)
    with begin() as session:
        cancel_execution(session, id_, ANNA, now=now)
    with begin() as session, pytest.raises(Conflict):
        undo_cancel(session, id_, ANNA, now=now + UNDO_WITHIN)
    with begin() as session:
        undo_cancel(session, id_, ANNA, now=now + UNDO_WITHIN / 2)
    assert bells == ["executions"]
    with begin() as session:
        row = session.get_one(Execution, id_)
        assert (row.state, row.reason, row.settled_at) == (
            ExecutionState.PENDING,
            None,
            None,
        )
        assert row.run_at == factories.NOW
    with begin() as session, pytest.raises(Conflict):
        undo_cancel(session, id_, ANNA, now=now)  # it waits already
    with begin() as session, pytest.raises(NotFound):
        undo_cancel(session, new_id(), ANNA, now=now)
    with begin() as session:
        cancel_execution(session, id_, ANNA, now=now)
        row = session.get_one(Execution, id_)
        again = Replay(
            congregation_id=row.congregation_id,
            execution_id=id_,
            original_id=id_,
            operation_id=new_id(),
        )
        session.add(again)
    with begin() as session, pytest.raises(Conflict):
        undo_cancel(session, id_, ANNA, now=now)
