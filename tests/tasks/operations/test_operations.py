"""Operations and replays: begun once, seen by whom they concern, nothing sent twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks import doorbell
from tasks.db import Begin, CongregationSession, set_scope
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.lanes import executions
from tasks.lanes import operations as lane
from tasks.models import (
    AuditEntry,
    Congregation,
    Execution,
    ExecutionContext,
    ExecutionState,
    Operation,
    OperationKind,
    OperationState,
    Reason,
    Replay,
    Rule,
    new_id,
)
from tasks.operations import matching as narrowing
from tasks.operations import starting
from tasks.operations.audit import Actor
from tasks.operations.kinds import Asked
from tasks.operations.matching import Matching
from tasks.operations.replaying_executions import FINAL, REPLAYED
from tasks.operations.seeing import find
from tasks.operations.single import Answer
from tasks.operations.starting import WHY_MAX, start
from tasks.operations.steering import resume, stop
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

ADA = Actor("ada@example.org")
BOB = Actor("bob@example.org")
S = ExecutionState
REPLAY = OperationKind.REPLAY_EXECUTIONS


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    monkeypatch.setattr(doorbell, "_listeners", [heard.append])
    return heard


def _house(session: Session, slug: str = "a") -> Rule:
    house = factories.congregation(session, slug)
    factories.booking(session, house)
    return factories.rule(session, house)


def _add(
    begin: Begin, state: ExecutionState, slug: str = "a", **values: object
) -> UUID:
    with begin() as session:
        ended = {"settled_at": NOW} if state is not S.PENDING else {}
        rule = _house(session, slug)
        return factories.execution(session, rule, state=state, **ended | values).id


def _replay(
    begin: Begin,
    matching: dict[str, str] | None = None,
    *,
    id_: UUID | None = None,
    again: bool = False,
) -> Operation:
    with begin() as session:
        asked = Asked(REPLAY, matching or {}, NOW, is_again=again)
        why = "It was lost." if again else ""
        return start(session, id_ or new_id(), asked, ADA, why=why, now=NOW)


def _all(begin: Begin) -> list[Execution]:
    with begin() as session:
        return list(session.scalars(select(Execution).order_by(Execution.id)))


@pytest.mark.parametrize("state", [S.FAILED, S.QUARANTINED])
def test_what_failed_is_retried_as_it_is(
    begin: Begin, bells: list[str], state: ExecutionState
) -> None:
    id_ = _add(begin, state, failures=5)
    operation = _replay(begin)
    assert (operation.state, operation.n_changed) == (OperationState.DONE, 1)
    (row,) = _all(begin)
    assert (row.id, row.state, row.failures) == (id_, S.PENDING, 0)
    assert bells == ["executions"]


@pytest.mark.parametrize("state", [S.CANCELLED, S.SKIPPED])
def test_what_was_not_sent_gets_one_second_chance_and_keeps_its_history(
    begin: Begin, state: ExecutionState
) -> None:
    id_ = _add(begin, state, reason=Reason.OPERATOR, context={"guest": {"name": "J"}})
    first, second = _replay(begin), _replay(begin)
    assert (first.n_changed, first.n_made) == (1, 1)
    assert second.skipped == {REPLAYED: {"n": 1, "ids": [str(id_)]}}
    with begin() as session:
        old = session.get_one(Execution, id_)
        link = session.scalars(select(Replay)).one()
        new = session.get_one(Execution, link.execution_id)
        assert (old.state, old.reason) == (state, Reason.OPERATOR)
        assert (new.state, new.due_at, new.run_at) == (S.PENDING, NOW, NOW)
        assert new.idempotency_key == f"{old.idempotency_key}:replay"
        assert (link.original_id, link.operation_id) == (id_, first.id)
        context = session.get_one(ExecutionContext, new.id).context
        assert context == {"guest": {"name": "J"}}


@pytest.mark.parametrize("reason", sorted(FINAL))
def test_what_something_newer_took_care_of_stays_as_it_is(
    begin: Begin, reason: Reason
) -> None:
    _add(begin, S.SKIPPED, reason=reason)
    operation = _replay(begin)
    assert (operation.n_done, operation.n_skipped) == (1, 1)
    assert len(_all(begin)) == 1


def test_what_was_sent_is_not_meant_unless_it_is_said(begin: Begin) -> None:
    _add(begin, S.SUCCEEDED)
    with pytest.raises(InvalidInput) as refused:
        _replay(begin)
    assert refused.value.code == "nothing_meant"
    assert len(_all(begin)) == 1


def test_a_second_sending_is_made_once_for_each_press_that_was_meant(
    begin: Begin,
) -> None:
    _add(begin, S.SUCCEEDED)
    id_ = new_id()
    for _ in range(2):
        assert _replay(begin, id_=id_, again=True).n_made == 1
    old, new = _all(begin)
    assert new.idempotency_key == f"{old.idempotency_key}:again:{id_}"
    with begin() as session:
        entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
        assert [each.action for each in entries] == [
            "operation.started",
            "operation.ended",
        ]
        assert entries[0].after is not None
        assert entries[0].after["why"] == "It was lost."
        assert {each.actor for each in entries} == {ADA.name}


def test_a_second_sending_is_looked_at_right_before_it_goes_out(
    begin: Begin, make_session: sessionmaker[Session]
) -> None:
    _add(begin, S.SUCCEEDED)
    _replay(begin, again=True)
    with begin() as session:
        session.scalars(select(Rule)).one().enabled = False
    post = FakePost()
    swept = executions.sweep(bench(make_session, lambda: NOW, post), 10)
    assert len(swept.skipped) == 1
    assert post.sent == []


def test_a_deleted_rule_gets_no_second_chance(begin: Begin) -> None:
    _add(begin, S.CANCELLED)
    with begin() as session:
        session.scalars(select(Rule)).one().deleted_at = NOW
    operation = _replay(begin)
    assert set(operation.skipped) == {"The rule was deleted."}


@pytest.mark.parametrize(
    ("why", "code"), [("", "why_missing"), ("x" * (WHY_MAX + 1), "why_too_long")]
)
def test_who_sends_again_says_why(begin: Begin, why: str, code: str) -> None:
    asked = Asked(REPLAY, {}, NOW, is_again=True)
    with begin() as session, pytest.raises(InvalidInput) as refused:
        start(session, new_id(), asked, ADA, why=why, now=NOW)
    assert (refused.value.code, refused.value.field) == (code, "why")


def test_what_became_so_later_is_left_alone(begin: Begin) -> None:
    _add(begin, S.FAILED)
    _add(begin, S.FAILED, "b", settled_at=NOW + timedelta(seconds=1))
    assert _replay(begin).n_changed == 1


def test_a_filter_is_read_back_as_it_was_meant(begin: Begin) -> None:
    _add(begin, S.FAILED)
    _add(begin, S.FAILED, "b", booking_id="b2")
    with begin() as session:
        of = session.scalars(
            select(Congregation.id).where(Congregation.slug == "a")
        ).one()
    matching = Matching(
        state="failed",
        congregation_id=of,
        text="b1",
        since=NOW - timedelta(days=1),
        until=NOW + timedelta(days=1),
    )
    operation = _replay(begin, matching.as_json())
    assert (operation.n_changed, operation.congregation_id) == (1, of)


@contextmanager
def _seeing(engine: Engine, *scope: UUID) -> Iterator[Session]:
    with CongregationSession(engine, expire_on_commit=False) as session:
        set_scope(session, frozenset(scope))
        with session.begin():
            yield session


def test_an_operator_of_some_congregations_replays_theirs_only(
    begin: Begin, engine: Engine
) -> None:
    mine, other = _add(begin, S.FAILED), _add(begin, S.FAILED, "b")
    with begin() as session:
        of = session.get_one(Execution, mine).congregation_id
        theirs = session.get_one(Execution, other).congregation_id
    with _seeing(engine, of) as session:
        operation = start(session, new_id(), Asked(REPLAY, {}, NOW), ADA, now=NOW)
        assert (operation.n_total, operation.congregation_id) == (1, of)
    states = {row.id: row.state for row in _all(begin)}
    assert states == {mine: S.PENDING, other: S.FAILED}
    with _seeing(engine, theirs) as session, pytest.raises(NotFound):
        find(session, operation.id, BOB)
    with _seeing(engine, theirs) as session, pytest.raises(NotFound):
        start(session, operation.id, Asked(REPLAY, {}, NOW), BOB, now=NOW)


def test_the_lane_searches_where_the_operator_who_asked_has_searched(
    begin: Begin,
    make_session: sessionmaker[Session],
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(narrowing, "SEARCH_WINDOW", 2)
    monkeypatch.setattr(starting, "PIECE", 1)
    with begin() as session:
        mine, other = _house(session), _house(session, "b")
        for rule in (mine, mine, other, other):  # newer ones of another house
            values = {"state": S.FAILED, "settled_at": NOW, "recipient": "j@b.example"}
            factories.execution(session, rule, **values)
        of = mine.congregation_id
    asked = Asked(REPLAY, Matching(text="j@b").as_json(), NOW)
    with _seeing(engine, of) as session:
        id_ = start(session, new_id(), asked, ADA, now=NOW).id
    for _ in range(3):
        lane.sweep(bench(make_session, lambda: NOW, FakePost()), 1)
    with begin() as session:
        operation = session.get_one(Operation, id_)
        assert (operation.n_total, operation.n_changed) == (2, 2)
        assert operation.changed_in == {str(of): 2}


def test_no_more_is_cancelled_than_was_told_though_the_window_lets_in_others(
    begin: Begin, make_session: sessionmaker[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrowing, "SEARCH_WINDOW", 2)
    monkeypatch.setattr(starting, "PIECE", 1)
    with begin() as session:
        rule = _house(session)
        for _ in range(4):
            factories.execution(session, rule, recipient="j@b.example")
        matching = Matching(state="pending", text="j@b").as_json()
        asked = Asked(OperationKind.CANCEL_EXECUTIONS, matching, NOW)
        id_ = start(session, new_id(), asked, ADA, now=NOW).id
    for _ in range(4):
        lane.sweep(bench(make_session, lambda: NOW, FakePost()), 1)
    with begin() as session:
        operation = session.get_one(Operation, id_)
        assert (operation.n_total, operation.n_changed) == (2, 2)
        assert operation.state is OperationState.DONE
    states = [row.state for row in _all(begin)]
    assert states == [S.CANCELLED, S.CANCELLED, S.PENDING, S.PENDING]


def test_one_about_several_congregations_is_told_to_each_in_its_own_numbers(
    begin: Begin, engine: Engine
) -> None:
    ids = [_add(begin, S.FAILED, slug) for slug in ("a", "b", "c")]
    with begin() as session:
        of = [session.get_one(Execution, id_).congregation_id for id_ in ids]
    with _seeing(engine, *of[:2]) as session:
        operation = start(session, new_id(), Asked(REPLAY, {}, NOW), ADA, now=NOW)
        assert (operation.congregation_id, operation.n_changed) == (None, 2)
        assert find(session, operation.id, ADA).id == operation.id
        with pytest.raises(NotFound):
            find(session, operation.id, BOB)
    with begin() as session:
        ended = select(AuditEntry).where(AuditEntry.action == "operation.ended")
        told = {each.congregation_id: each.after for each in session.scalars(ended)}
    assert set(told) == set(of[:2])
    assert {each["changed"] for each in told.values() if each} == {1}


def test_stopping_and_resuming_answer_what_cannot_be(begin: Begin) -> None:
    _add(begin, S.FAILED)
    done = _replay(begin).id
    for verb in (stop, resume):
        with begin() as session, pytest.raises(Conflict):
            verb(session, done, ADA, now=NOW)
        with begin() as session, pytest.raises(NotFound):
            verb(session, new_id(), ADA, now=NOW)


def test_stop_and_resume_pressed_twice_change_it_once(begin: Begin) -> None:
    with begin() as session:
        rule = _house(session)
        for _ in range(201):
            factories.execution(session, rule, state=S.FAILED, settled_at=NOW)
    id_ = _replay(begin).id
    later = [NOW + timedelta(seconds=n) for n in range(4)]
    for verb, at, expected in (
        (stop, later[0], Answer.DONE),
        (stop, later[1], Answer.ALREADY),
        (resume, later[2], Answer.DONE),
        (resume, later[3], Answer.ALREADY),
    ):
        with begin() as session:
            assert verb(session, id_, ADA, now=at) is expected
