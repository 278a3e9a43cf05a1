"""What operators did to a record, and to the jobs and executions about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from dashboard.congregations import trail
from dashboard.congregations.records import Names
from dashboard.congregations.trail import FRAME
from tasks.models import AuditEntry, ScheduledJob

#: Subjects of entries that name several rows; see ``tasks.operations.bulk``.
_MANY: Final = "many"
_KINDS: Final = ("execution", "scheduled_job")


def deeds(
    session: Session,
    names: Names,
    executions: Sequence[UUID],
    older: ColumnElement[bool],
    limit: int,
) -> list[AuditEntry]:
    """Return the newest audit entries about a record; three queries.

    Args:
        executions: the record's executions on and around the page.
        older: what makes an entry part of the page.
    """
    jobs = session.scalars(
        select(ScheduledJob.id).where(
            ScheduledJob.id.in_(trail.jobs(names, FRAME, at=ScheduledJob.created_at))
        )
    ).all()
    ids = {str(id_) for id_ in (*executions, *jobs)}
    alone = _newest(session, limit, older, _alone(names, executions, jobs))
    together = _newest(session, limit, older, _together(names))
    named = [entry for entry in together if _names(entry, ids)]
    found = sorted([*alone, *named], key=lambda each: (each.created_at, each.id))
    return found[::-1][:limit]


def _newest(
    session: Session, limit: int, *which: ColumnElement[bool]
) -> Sequence[AuditEntry]:
    return session.scalars(
        select(AuditEntry)
        .where(*which)
        .order_by(AuditEntry.created_at.desc(), AuditEntry.id.desc())
        .limit(limit)
    ).all()


def _alone(
    names: Names, executions: Sequence[UUID], jobs: Sequence[UUID]
) -> ColumnElement[bool]:
    """Return what finds entries about one row, each kind by the subject's index."""
    return or_(
        and_(
            AuditEntry.subject_kind == names.kind,
            AuditEntry.subject_id == names.id,
            AuditEntry.congregation_id == names.congregation_id,
        ),
        *(
            and_(
                AuditEntry.subject_kind == kind,
                AuditEntry.subject_id.in_([str(id_) for id_ in ids]),
            )
            for kind, ids in zip(_KINDS, (executions, jobs), strict=True)
            if ids
        ),
    )


def _together(names: Names) -> ColumnElement[bool]:
    return and_(
        AuditEntry.subject_kind.in_(_KINDS),
        AuditEntry.subject_id == _MANY,
        AuditEntry.congregation_id == names.congregation_id,
    )


def _names(entry: AuditEntry, ids: Iterable[str]) -> bool:
    told = (entry.after or {}).get("ids", ())
    return not set(ids).isdisjoint(told)
