"""What operators did to one row, shown on the row's own page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models import (
    AuditEntry,
    Delivery,
    DigestMail,
    Endpoint,
    Execution,
    ScheduledJob,
)

#: Entries about the row alone.
_ALONE_MAX: Final = 50
#: Entries about many rows, which are looked through for this one's id.
_TOGETHER_MAX: Final = 20


def deeds(
    session: Session,
    kind: str,
    row: Execution | ScheduledJob | Endpoint | Delivery | DigestMail,
) -> Sequence[AuditEntry]:
    """Return the audit entries of a row, newest first; two queries.

    One that was done to more rows than an entry names stands in the audit log only.
    """
    about = select(AuditEntry).where(
        AuditEntry.subject_kind == kind, AuditEntry.created_at >= row.created_at
    )
    order = (AuditEntry.created_at.desc(), AuditEntry.id.desc())
    alone = about.where(AuditEntry.subject_id == str(row.id))
    together = about.where(
        AuditEntry.subject_id == "many",
        AuditEntry.congregation_id == row.congregation_id,
    )
    entries = [
        *session.scalars(alone.order_by(*order).limit(_ALONE_MAX)),
        *(
            entry
            for entry in session.scalars(together.order_by(*order).limit(_TOGETHER_MAX))
            if _names(entry, row.id)
        ),
    ]
    return sorted(entries, key=lambda entry: entry.created_at, reverse=True)


def _names(entry: AuditEntry, id_: UUID) -> bool:
    return str(id_) in (entry.after or {}).get("ids", ())
