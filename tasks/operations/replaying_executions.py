"""Replaying executions: a second chance for what was not sent, or a second sending.

What failed is queued again as it is.  What was cancelled or skipped stays in the
history; another execution takes its place, one for each, however often it is asked
for.  What succeeded is sent again only where an operator says so.  All of them are
looked at again right before they act.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.executions import NewExecution, insert_executions
from tasks.automation.keys import replay_key
from tasks.bulk import insert_many
from tasks.models import (
    SENTENCES,
    Execution,
    ExecutionContext,
    ExecutionState,
    Operation,
    Reason,
    Replay,
    Rule,
    new_id,
)
from tasks.models.base import Json
from tasks.models.execution import SETTLED
from tasks.operations.acted import Acted
from tasks.operations.allowed import NOT_RETRYABLE, RETRYABLE
from tasks.operations.bulk import change
from tasks.operations.executions import LANE, RETRY
from tasks.saying import mark

SUCCEEDED: Final = NOT_RETRYABLE[ExecutionState.SUCCEEDED]
REPLAYED: Final = mark("It was replayed before.")
MOVED: Final = mark("It had changed by itself when its turn came.")
#: Ends for which a second chance would be wrong: somebody, or something newer, has
#: taken care of it.
FINAL: Final = frozenset(
    {Reason.SUPERSEDED, Reason.PRODUCER, Reason.LOOP_GUARD, Reason.DUPLICATE}
)
_REPLAYS: Final = Replay.metadata.tables[Replay.__tablename__]


@dataclass(frozen=True, slots=True)
class Old:
    """An execution that ended, its snapshot, and its rule as it is now."""

    row: Execution
    context: Json
    rule: Rule


def replay_executions(
    session: Session, operation: Operation, ids: Sequence[UUID], now: datetime
) -> Acted:
    """Replay settled executions; the caller commits."""
    acted = Acted()
    by_state: dict[bool, list[Old]] = defaultdict(list)
    for old in read(session, ids):
        if (why := _why_not(old, operation)) is not None:
            acted.skip([old.row.id], why)
        else:
            by_state[old.row.state in RETRYABLE].append(old)
    _retry(session, by_state[True], acted, now)
    _repeat(session, by_state[False], operation, acted, now)
    if acted.changed:
        doorbell.ask(session, LANE)
    return acted


def read(session: Session, ids: Sequence[UUID]) -> list[Old]:
    """Return executions with what a repetition needs of them, by id.

    They are locked: one whose cancelling is taken back is not repeated as well.
    """
    rows = session.execute(
        select(Execution, ExecutionContext.context, Rule)
        .join(Rule, Rule.id == Execution.rule_id)
        .outerjoin(ExecutionContext, ExecutionContext.execution_id == Execution.id)
        .where(Execution.id.in_(ids))
        .order_by(Execution.id)
        .with_for_update(of=Execution, key_share=True)
        .execution_options(populate_existing=True)
    )
    return [Old(row, context or {}, rule) for row, context, rule in rows]


def _why_not(old: Old, operation: Operation) -> str | None:
    row = old.row
    if old.rule.deleted_at is not None:
        return SENTENCES[Reason.RULE_DELETED]
    if row.state not in SETTLED:
        return MOVED
    if row.state is ExecutionState.SUCCEEDED and not operation.is_again:
        return SUCCEEDED
    if row.state is not ExecutionState.SUCCEEDED and row.reason in FINAL:
        return SENTENCES[Reason(row.reason)]
    return None


def _retry(
    session: Session, failed: Sequence[Old], acted: Acted, now: datetime
) -> None:
    ids = {old.row.id for old in failed}
    changed = change(session, RETRY, ids, now)
    acted.changed += changed
    acted.skip(sorted(ids - {id_ for _, id_ in changed}), MOVED)


def _repeat(
    session: Session,
    olds: Sequence[Old],
    operation: Operation,
    acted: Acted,
    now: datetime,
) -> None:
    copies = {old.row.id: copy_of(old, _key(old, operation.id), now) for old in olds}
    born = insert_executions(session, list(copies.values()))
    for old in olds:
        if copies[old.row.id].id in born:
            acted.changed.append((old.row.congregation_id, old.row.id))
            acted.n_made += 1
        else:
            acted.skip([old.row.id], REPLAYED)
    insert_many(session, _REPLAYS, _links(copies, born, operation.id))


def _links(
    copies: Mapping[UUID, NewExecution], born: set[UUID], operation_id: UUID
) -> list[dict[str, object]]:
    return [
        {
            "execution_id": copy.id,
            "congregation_id": copy.congregation_id,
            "original_id": original_id,
            "operation_id": operation_id,
        }
        for original_id, copy in copies.items()
        if copy.id in born
    ]


def _key(old: Old, operation_id: UUID) -> str:
    was_sent = old.row.state is ExecutionState.SUCCEEDED
    return replay_key(old.row.idempotency_key, operation_id if was_sent else None)


def copy_of(old: Old, key: str, now: datetime) -> NewExecution:
    """Return the execution that repeats an old one, with the rule as it is now."""
    row = old.row
    return NewExecution(
        id=new_id(now),
        congregation_id=row.congregation_id,
        rule_id=row.rule_id,
        rule_version=old.rule.version,
        trigger_type=row.trigger_type,
        action=row.action,
        idempotency_key=key,
        due_at=now,
        max_attempts=row.max_attempts,
        context=old.context,
        created_at=now,
        event_id=row.event_id,
        scheduled_job_id=row.scheduled_job_id,
        podcast_id=row.podcast_id,
        episode_id=row.episode_id,
        booking_id=row.booking_id,
        guest_id=row.guest_id,
        recipient=row.recipient,
        step=row.step,
    )
