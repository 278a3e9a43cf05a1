"""Messages that operators edited take the place of what the rules would make."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import CannotCompose
from tasks.automation.composing import Composed
from tasks.bulk import among
from tasks.executing.claiming import Running
from tasks.models.edit import ExecutionEdit


def put_in(
    session: Session,
    rows: Sequence[Running],
    composed: Sequence[Composed | CannotCompose],
) -> list[Composed | CannotCompose]:
    """Return the messages, with those that were edited in their places.

    No query for what is tried for the first time: an edited one never is.
    """
    asked = [row.id for row in rows if row.attempt > 1 and not row.is_within]
    if not asked:
        return list(composed)
    found = session.scalars(
        select(ExecutionEdit).where(among(session, ExecutionEdit.execution_id, asked))
    )
    edits = {each.execution_id: each for each in found}
    return [
        _edited(edits, row.id) or each for row, each in zip(rows, composed, strict=True)
    ]


def _edited(edits: dict[UUID, ExecutionEdit], id_: UUID) -> Composed | None:
    edit = edits.get(id_)
    if edit is None:
        return None
    return Composed(dict(edit.message), str(edit.message["to"]))
