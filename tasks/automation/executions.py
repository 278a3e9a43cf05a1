"""The one way in which executions come into being, for events and for dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.upsert import insert_new
from tasks.bulk import insert_many
from tasks.clock import utcnow
from tasks.models.base import Json
from tasks.models.execution import Execution, ExecutionContext, ExecutionState


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExecution:
    """A pending execution to be: its columns, and the snapshot operators see."""

    id: UUID
    congregation_id: UUID
    rule_id: UUID
    rule_version: int
    trigger_type: str
    action: str
    idempotency_key: str  # unique within the congregation
    due_at: datetime
    max_attempts: int
    context: Json
    created_at: datetime = field(default_factory=utcnow)
    run_at: datetime | None = None  # None: as due_at
    event_id: UUID | None = None
    scheduled_job_id: UUID | None = None
    podcast_id: str | None = None
    episode_id: str | None = None
    booking_id: str | None = None
    guest_id: str | None = None
    recipient: str | None = None
    step: int = 0


def insert_executions(session: Session, rows: Sequence[NewExecution]) -> set[UUID]:
    """Insert executions with their snapshots; returns the ids that are really new.

    A row whose key exists already, or is being inserted by somebody else, is left
    out.  One statement per table; the caller commits and asks for the doorbell.
    """
    # Numbers: comparing UUIDs is Python.
    ordered = sorted(
        rows, key=lambda row: (row.congregation_id.int, row.idempotency_key)
    )
    born = insert_new(
        session,
        Execution,
        [_columns(row) for row in ordered],
        unique=("congregation_id", "idempotency_key"),
    )
    snapshots = [
        {
            "execution_id": row.id,
            "congregation_id": row.congregation_id,
            "context": row.context,
        }
        for row in ordered
        if row.id in born
    ]
    insert_many(session, _CONTEXTS, snapshots)
    return born


# The table, not the class: the ORM would turn every row into parameters of its own.
_CONTEXTS: Final = ExecutionContext.metadata.tables[ExecutionContext.__tablename__]
_COLUMNS: Final = tuple(f.name for f in fields(NewExecution) if f.name != "context")


def _columns(row: NewExecution) -> dict[str, object]:
    columns: dict[str, object] = {name: getattr(row, name) for name in _COLUMNS}
    columns["run_at"] = row.run_at or row.due_at
    columns["state"] = ExecutionState.PENDING
    return columns
