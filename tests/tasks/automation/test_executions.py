"""Executions come into being once, with their snapshots."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from tasks.automation.executions import NewExecution, insert_executions
from tasks.models import ExecutionContext, ExecutionState, new_id
from tests.tasks.automation.conftest import NOW, World


def _new(world: World, rule_id: UUID, key: str) -> NewExecution:
    return NewExecution(
        id=new_id(),
        congregation_id=world.id,
        rule_id=rule_id,
        rule_version=1,
        trigger_type="booking.confirmed",
        action="email",
        idempotency_key=key,
        due_at=NOW,
        max_attempts=3,
        context={"key": key},
    )


def test_only_new_keys_become_executions(world: World, twin: World) -> None:
    rule, theirs = world.rule("booking.confirmed"), twin.rule("booking.confirmed")
    first = _new(world, rule.id, "a")
    batch = [_new(world, rule.id, "b"), _new(world, rule.id, "a")]
    other = _new(twin, theirs.id, "a")
    with world.make_session.begin() as session:
        assert insert_executions(session, [first]) == {first.id}
        assert insert_executions(session, [*batch, other]) == {batch[0].id, other.id}
        assert insert_executions(session, []) == set()
    with world.make_session() as session:
        contexts = {c.execution_id for c in session.query(ExecutionContext)}
    assert contexts == {first.id, batch[0].id, other.id}


def test_a_new_execution_waits_for_its_promise_unless_told_otherwise(
    world: World,
) -> None:
    rule = world.rule("booking.confirmed")
    later = replace(_new(world, rule.id, "a"), run_at=NOW.replace(hour=13))
    with world.make_session.begin() as session:
        insert_executions(session, [later, _new(world, rule.id, "b")])
    rows = {row.idempotency_key: row for row in world.executions()}
    assert (rows["a"].due_at, rows["a"].run_at) == (NOW, NOW.replace(hour=13))
    assert (rows["b"].run_at, rows["b"].state) == (NOW, ExecutionState.PENDING)
    assert (rows["b"].max_attempts, rows["b"].attempt) == (3, 0)


def test_a_batch_of_many_thousands_is_inserted(world: World) -> None:
    rule = world.rule("booking.confirmed")
    rows = [_new(world, rule.id, str(n)) for n in range(2500)]
    with world.make_session.begin() as session:
        assert len(insert_executions(session, rows)) == 2500
