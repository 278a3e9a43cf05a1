"""INSERT that leaves out rows which are there already, on both databases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.models.event import Event
from tasks.models.execution import Execution
from tasks.models.scheduled_job import ScheduledJob


def insert_new(
    session: Session,
    model: type[Event | Execution | ScheduledJob],
    rows: Sequence[dict[str, Any]],
    *,
    unique: Sequence[str],
    among: TextClause | None = None,
) -> set[UUID]:
    """Insert the rows whose ``unique`` columns are new; returns their ids.

    A writer that races for the same values is waited for, so exactly one of both
    inserts.  One statement for up to 1 000 rows.

    Args:
        among: the condition of a partial unique index.
        rows: in an order that all writers share, or two of them could deadlock.
    """
    if not rows:
        return set()
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    statement = (
        # The table, not the class: the ORM would look for rows of its identity map.
        dialect.insert(model.__table__)
        .on_conflict_do_nothing(index_elements=list(unique), index_where=among)
        .returning(model.id)
    )
    return set(session.scalars(statement, list(rows)))
