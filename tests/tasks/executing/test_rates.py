"""Rate limits: who comes early waits for its turn, nobody starves, nothing is lost."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, event, func, select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Outcome, TryAgain
from tasks.automation.records import CHUNK
from tasks.executing.rates import hold, waits
from tasks.executing.turns import HORIZON, next_turns
from tasks.held import Claim
from tasks.lanes.executions import sweep
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Execution,
    ExecutionState,
    RateSlot,
    Rule,
)
from tasks.operations.audit import Actor
from tasks.operations.rule_fields import RuleChange
from tasks.operations.rules import edit_rule
from tasks.secrets import SecretBox
from tests.support import factories
from tests.support.factories import EMAIL_SETTINGS, NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
MINUTE = timedelta(minutes=1)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class Limited:
    """One rule that may act twice in ten minutes, and what came of its executions."""

    def __init__(self, make_session: Sessions) -> None:
        self.make_session = make_session
        self.clock = Clock()
        self.post = FakePost()
        with make_session.begin() as session:
            self.tenant = factories.congregation(session)
            factories.booking(session, self.tenant)
            self.rule_id = self._rule(session, rate_limit=2, rate_window_minutes=10)

    def _rule(self, session: Session, **values: Any) -> UUID:
        return factories.rule(session, self.tenant, **values).id

    def rule(self, **values: Any) -> UUID:
        with self.make_session.begin() as session:
            return self._rule(session, **values)

    def add(self, n: int = 1, rule_id: UUID | None = None, **values: Any) -> list[UUID]:
        with self.make_session.begin() as session:
            rule = session.get_one(Rule, rule_id or self.rule_id)
            return [factories.execution(session, rule, **values).id for _ in range(n)]

    def sweep(self, after: timedelta = timedelta(0), limit: int = 50) -> list[UUID]:
        """Move the clock, sweep once, and return what was sent meanwhile.

        It comes in the order of birth: what one sweep sends leaves side by side.
        """
        self.clock.now += after
        n_before = len(self.post.sent)
        sweep(bench(self.make_session, self.clock, self.post), limit)
        return sorted(each.execution_id for each, _ in self.post.sent[n_before:])

    def get(self, id_: UUID) -> Execution:
        with self.make_session() as session:
            return session.get_one(Execution, id_)

    def count(self, model: type[Any], **values: Any) -> int:
        with self.make_session() as session:
            counted = select(func.count()).select_from(model).filter_by(**values)
            return session.scalar(counted) or 0


@pytest.fixture
def limited(make_session: Sessions) -> Limited:
    """Return a rule with a limit, on both databases in turn."""
    return Limited(make_session)


def test_what_is_above_the_limit_waits_and_uses_no_attempt(limited: Limited) -> None:
    ids = limited.add(5)
    assert limited.sweep() == ids[:2]
    runs = [limited.get(id_).run_at - NOW for id_ in ids[2:]]
    assert runs == [10 * MINUTE, 10 * MINUTE, 20 * MINUTE]
    waiting = limited.get(ids[2])
    assert waiting.state is ExecutionState.PENDING
    assert (waiting.failures, waiting.due_at, waiting.worker) == (0, NOW, None)
    assert waiting.error == (
        "Waits for its turn: the rule acts at most 2 times in 10 minutes."
    )
    assert limited.count(Attempt, outcome=AttemptOutcome.DEFERRED) == 3
    assert limited.count(Attempt, effect_started_at=None) == 3


def test_each_goes_out_in_its_turn_and_in_its_order(limited: Limited) -> None:
    ids = limited.add(5)
    sent = [limited.sweep(), *(limited.sweep(5 * MINUTE) for _ in range(4))]
    assert sent == [ids[:2], [], ids[2:4], [], ids[4:]]
    states = [limited.get(id_).state for id_ in ids]
    assert states == [ExecutionState.SUCCEEDED] * 5
    assert limited.get(ids[4]).error is None


def test_who_comes_later_does_not_overtake_who_waits(limited: Limited) -> None:
    first = limited.add(4)
    limited.sweep()
    late = limited.add(2)
    assert limited.sweep() == []
    assert limited.sweep(10 * MINUTE) == first[2:]
    assert limited.sweep(10 * MINUTE) == late


def test_a_quiet_rule_acts_at_once(limited: Limited) -> None:
    assert len(limited.sweep()) == 0
    assert limited.sweep(MINUTE) == []
    ids = limited.add(1, run_at=NOW)
    assert limited.sweep(MINUTE) == ids
    again = limited.add(1)
    assert limited.sweep(MINUTE) == again
    third = limited.add(1)
    assert limited.sweep(MINUTE) == []
    assert limited.get(third[0]).run_at == NOW + 12 * MINUTE


def test_rules_without_a_limit_are_not_held_up(limited: Limited) -> None:
    limited.add(3)
    free = limited.add(3, limited.rule())
    assert set(free) < set(limited.sweep())
    assert limited.count(RateSlot) == 3


def test_a_retry_takes_a_turn_like_any_other(limited: Limited) -> None:
    answers: list[Outcome] = [TryAgain("busy", after=MINUTE), Done(), Done()]
    limited.post = FakePost(lambda _: answers.pop(0))
    failing = limited.add(1)
    limited.sweep()
    other = limited.add(1)
    assert limited.sweep() == other
    assert limited.sweep(2 * MINUTE) == []
    assert limited.get(failing[0]).run_at == NOW + 10 * MINUTE
    assert limited.get(failing[0]).failures == 1
    assert limited.sweep(8 * MINUTE) == failing


def test_many_rules_at_once_all_get_their_turns(limited: Limited) -> None:
    with limited.make_session.begin() as session:
        rules = {
            row.id: row
            for row in (
                factories.rule(session, limited.tenant, rate_limit=1)
                for _ in range(CHUNK + 1)
            )
        }
        claims = [
            Claim(factories.execution(session, row).id, 1, limited.tenant)
            for row in rules.values()
        ]
        of = dict(zip((c.execution_id for c in claims), rules.values(), strict=True))
        held = hold(session, rules.values(), holds_rows=False)
        assert waits(session, claims, of, NOW, held) == {}
        assert len(waits(session, _again(claims), of, NOW, held)) == len(claims)


def _again(claims: list[Claim]) -> list[Claim]:
    return [claim._replace(attempt=2) for claim in claims]


def test_what_is_skipped_takes_no_turn(limited: Limited) -> None:
    with limited.make_session.begin() as session:
        session.execute(update(Rule).values(enabled=False))
    limited.add(3)
    limited.sweep()
    assert limited.count(Execution, state=ExecutionState.SKIPPED) == 3
    assert limited.count(RateSlot) == 0


def _edit(limited: Limited, **values: Any) -> None:
    change = RuleChange(
        "Welcome", "booking.confirmed", "email", dict(EMAIL_SETTINGS), **values
    )
    with limited.make_session.begin() as session:
        edit_rule(
            session,
            limited.rule_id,
            change,
            Actor("system"),
            SecretBox("x" * 40),
            now=limited.clock.now,
        )


@pytest.mark.parametrize(
    ("values", "n"), [({"rate_limit": None}, 3), ({"rate_limit": 4}, 2)]
)
def test_a_wider_limit_lets_those_who_wait_ask_anew(
    limited: Limited, values: dict[str, Any], n: int
) -> None:
    ids = limited.add(5)
    limited.sweep()
    _edit(limited, rate_window_minutes=10, **values)
    assert limited.sweep() == ids[2 : 2 + n]


def test_workers_side_by_side_give_no_turn_twice(limited: Limited) -> None:
    limited.add(20)
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        for _ in range(3):
            limited.sweep(limit=5)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    limited.sweep()
    assert len(limited.post.sent) == 2
    with limited.make_session() as session:
        turns = session.scalars(select(RateSlot.at).order_by(RateSlot.at)).all()
    assert list(turns) == [NOW + n // 2 * 10 * MINUTE for n in range(20)]


def test_turns_go_with_their_executions(limited: Limited) -> None:
    limited.add(3)
    limited.sweep()
    with limited.make_session.begin() as session:
        for row in session.scalars(select(Execution)):
            session.delete(row)
    assert limited.count(RateSlot) == 0


def _statements(engine: Engine, limited: Limited, *rule_ids: UUID) -> int:
    """Return how many statements it takes to give turns to these rules' executions."""
    seen: list[str] = []
    claims: list[Claim] = []
    rules: dict[UUID, Rule] = {}

    def count(*args: Any) -> None:
        seen.append(args[2])

    for rule_id in rule_ids:
        for id_ in limited.add(10, rule_id):
            claims.append(Claim(id_, 1, limited.tenant))
            with limited.make_session() as session:
                rules[id_] = session.get_one(Rule, rule_id)
    event.listen(engine, "before_cursor_execute", count)
    with limited.make_session.begin() as session:
        held = hold(session, rules.values(), holds_rows=False)
        waits(session, claims, rules, NOW, held)
    event.remove(engine, "before_cursor_execute", count)
    return len([each for each in seen if not each.startswith("BEGIN")])


def test_the_number_of_queries_does_not_grow_with_the_batch(
    limited: Limited, engine: Engine
) -> None:
    others = [limited.rule(rate_limit=n) for n in range(1, 4)]
    few = _statements(engine, limited, limited.rule_id)
    n = 4 if engine.dialect.name == "postgresql" else 3  # SQLite locks no rules
    assert _statements(engine, limited, *others) == few == n
    assert _statements(engine, limited, limited.rule()) == 0


@given(
    limit=st.integers(1, 5),
    window=st.integers(1, 20),
    batches=st.lists(st.tuples(st.integers(0, 15), st.integers(1, 7)), max_size=8),
)
def test_no_window_wherever_it_begins_sees_more_than_the_limit(
    limit: int, window: int, batches: list[tuple[int, int]]
) -> None:
    now, span, turns = NOW, window * MINUTE, list[datetime]()
    for wait, n in batches:
        now += wait * MINUTE
        before = sorted(t for t in turns if t > now - span)[-limit:]
        new = next_turns(before, n, limit=limit, window=span, now=now)
        assert all(turn >= now for turn in new)
        assert new == sorted(new)
        assert not turns or new[0] >= turns[-1] or turns[-1] <= now
        turns += new
    for turn in turns:
        assert sum(turn <= each < turn + span for each in turns) <= limit


def test_no_turn_is_given_beyond_the_horizon() -> None:
    turns = next_turns([], 5_000, limit=1, window=timedelta(days=1), now=NOW)
    assert max(turns) == NOW + HORIZON
