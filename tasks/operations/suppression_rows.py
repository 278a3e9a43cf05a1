"""The list's rows: written so that two who stop an address make one entry, and told."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.clock import utcnow
from tasks.models.base import new_id
from tasks.models.suppression import Suppression, SuppressionReason
from tasks.operations.audit import Actor, Subject, record

NOTE_MAX: Final = 200  # characters


def entry(
    congregation_id: UUID,
    address: str,
    reason: SuppressionReason,
    actor: Actor,
    *,
    agent: str = "",
    note: str = "",
    now: datetime | None = None,
) -> Suppression:
    """Return an entry that no session knows yet.

    Args:
        address: normalised, as is ``agent``.
        note: checked, of ``NOTE_MAX`` characters at most.
    """
    return Suppression(
        id=new_id(),
        congregation_id=congregation_id,
        address=address,
        agent=agent,
        reason=reason,
        note=note,
        created_by=actor.name,
        created_at=now or utcnow(),
    )


def listed(session: Session, new: Suppression) -> tuple[Suppression, bool]:
    """Return the address's entry, and whether it is new; two writers make one."""
    dialect = postgresql if is_postgres(session) else sqlite
    table = Suppression.metadata.tables[Suppression.__tablename__]
    unique = ("congregation_id", "address", "agent")
    made = session.scalar(
        dialect.insert(table)
        .values({column.name: getattr(new, column.name) for column in table.c})
        .on_conflict_do_nothing(index_elements=unique)
        .returning(table.c.id)
    )
    row = session.scalars(
        select(Suppression)
        .filter_by(**{name: getattr(new, name) for name in unique})
        .execution_options(populate_existing=True)
    ).one()
    return row, made is not None


def told(row: Suppression) -> dict[str, Any]:
    """Return what the audit log keeps of an entry."""
    facts = {"address": row.address, "reason": str(row.reason), "note": row.note}
    return facts | ({"agent": row.agent} if row.agent else {})


def tell(
    session: Session,
    actor: Actor,
    action: str,
    row: Suppression,
    **facts: dict[str, Any],
) -> None:
    """Add an audit entry; ``facts`` are ``before`` or ``after``, see ``told``."""
    verb = "Stopped" if action.endswith("added") else "Allowed"
    by = f" from {row.agent}" if row.agent else ""
    summary = f"{verb} mails to {row.address}{by}"
    subject = Subject("suppression", str(row.id), row.congregation_id)
    record(session, actor, action, subject, summary, **facts)
