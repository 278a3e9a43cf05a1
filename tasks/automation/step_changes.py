"""A rule's steps change: what is on its way follows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, literal_column, or_, select, update
from sqlalchemy.orm import Session

from tasks.automation.steps import Step
from tasks.bulk import BulkUpdate
from tasks.locks import in_order
from tasks.lookups import unindexed
from tasks.models.edit import ExecutionEdit
from tasks.models.execution import Execution, ExecutionState
from tasks.models.reason import Reason
from tasks.models.rule import Rule

_move: Final = BulkUpdate(
    Execution.metadata.tables[Execution.__tablename__],
    keys=("id", "attempt"),
    columns=("due_at", "run_at"),
)


#: What has only waited for its turn was not tried.
_WAS_TRIED: Final = or_(Execution.failures > 0, Execution.crashes > 0)


@dataclass(frozen=True, slots=True)
class StepsChanged:
    """How many waiting executions followed a change of steps."""

    n_ended: int = 0  # their step was taken out, or was tried as another
    n_moved: int = 0  # their step has another delay
    n_skipped: int = 0  # by the new delay their time has passed


def follow_steps(
    session: Session,
    rule: Rule,
    before: Sequence[Step],
    after: Sequence[Step],
    now: datetime,
) -> StepsChanged:
    """Let executions that wait for a changed step follow it.  Caller commits.

    What was tried already is left alone, except that a step which is taken out, or does
    something else now, ends it.  A shorter delay never makes up for the past: what it
    puts there is skipped.
    """
    new = {step.number: step for step in after}
    gone = [step.number for step in before if step.number not in new]
    n_ended = _end(session, _waiting(rule, gone), now) if gone else 0
    n_moved = n_skipped = 0
    for old in before:
        step = new.get(old.number, old)
        if step.action != old.action:
            n_ended += _end(session, [*_of_step(rule, step), _WAS_TRIED], now)
            _change_action(session, rule, step)
        if step.delay != old.delay:
            moved, skipped = _shift(session, rule, step, now)
            n_moved, n_skipped = n_moved + moved, n_skipped + skipped
    return StepsChanged(n_ended, n_moved, n_skipped)


def _waiting(rule: Rule, numbers: Iterable[int]) -> list[ColumnElement[bool]]:
    # The congregation first: the index of what waits begins with it.  Left to itself
    # SQLite goes by the rule, and reads all that it ever did.
    return [
        Execution.congregation_id == rule.congregation_id,
        Execution.state == literal_column("'pending'"),
        unindexed(Execution.rule_id) == rule.id,
        Execution.step.in_(list(numbers)),
    ]


def _of_step(rule: Rule, step: Step) -> list[ColumnElement[bool]]:
    """Return what waits for a step, but not what an operator wrote for one time."""
    edited = select(ExecutionEdit.execution_id)
    is_edited = edited.where(ExecutionEdit.execution_id == Execution.id).exists()
    return [*_waiting(rule, [step.number]), ~is_edited]


def _end(session: Session, which: Iterable[ColumnElement[bool]], now: datetime) -> int:
    ended = session.scalars(
        update(Execution)
        .where(*in_order(session, Execution, *which))
        .values(
            state=ExecutionState.CANCELLED,
            reason=Reason.STEP_REMOVED,
            settled_at=now,
            worker=None,
            lease_until=None,
        )
        .returning(Execution.id)
        .execution_options(synchronize_session=False)
    )
    return len(ended.all())


def _change_action(session: Session, rule: Rule, step: Step) -> None:
    untried = [*_of_step(rule, step), ~_WAS_TRIED]
    session.execute(
        update(Execution)
        .where(*in_order(session, Execution, *untried))
        .values(action=step.action)
        .execution_options(synchronize_session=False)
    )


def _shift(session: Session, rule: Rule, step: Step, now: datetime) -> tuple[int, int]:
    """Return how many were moved and skipped; they count from when the rule fired."""
    waiting = (*_waiting(rule, [step.number]), Execution.attempt == 0)
    rows = session.execute(
        select(Execution.id, Execution.created_at)
        .where(*waiting)
        .order_by(unindexed(Execution.id))  # who cancels many has the same order
        .with_for_update(key_share=True)
    ).all()
    times = {row.id: row.created_at + step.delay for row in rows}
    # By what is true of them, not by their ids: there may be any number.
    session.execute(
        update(Execution)
        .where(*waiting, Execution.created_at <= now - step.delay)
        .values(
            state=ExecutionState.SKIPPED, reason=Reason.OFFSET_IN_PAST, settled_at=now
        )
        .execution_options(synchronize_session=False)
    )
    moved: list[dict[str, Any]] = [
        {"id": id_, "attempt": 0, "due_at": at, "run_at": at}
        for id_, at in times.items()
        if at > now
    ]
    _move(session, moved)
    return len(moved), len(times) - len(moved)
