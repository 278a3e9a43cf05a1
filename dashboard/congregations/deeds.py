"""What operators did to a record, and to the jobs and executions about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select, union
from sqlalchemy.orm import Session

from dashboard.congregations import trail
from dashboard.congregations.moments import RANKS
from dashboard.congregations.places import Place, before
from dashboard.congregations.records import Names
from dashboard.congregations.trail import FRAME, unindexed
from tasks.models import AuditEntry, ScheduledJob
from tasks.models.base import Json

#: Subjects of entries that name several rows; see ``tasks.operations.bulk``.
_MANY: Final = "many"
_KINDS: Final = ("execution", "scheduled_job")


@dataclass(frozen=True, slots=True)
class Deed:
    """An audit entry, as far as a timeline shows it."""

    id: UUID
    created_at: datetime
    actor: str
    summary: str
    after: Json | None


def deeds(
    session: Session,
    names: Names,
    executions: Sequence[UUID],
    place: Place | None,
    limit: int,
) -> list[Deed]:
    """Return the newest audit entries about a record; three queries.

    Args:
        executions: the record's executions on and around the page.
        place: what stands before it is part of the page; ``None``: everything.
    """
    jobs = session.scalars(
        select(ScheduledJob.id).where(
            ScheduledJob.id.in_(trail.jobs(names, FRAME, at=ScheduledJob.created_at))
        )
    ).all()
    ids = {str(id_) for id_ in (*executions, *jobs)}
    own: list[tuple[str, Sequence[str]]] = [(names.kind, [names.id])]
    own += zip(_KINDS, (_texts(executions), _texts(jobs)), strict=True)
    alone = _newest(session, names, own, place, limit)
    many = [(kind, [_MANY]) for kind in _KINDS]
    together = _newest(session, names, many, place, limit)
    named = [entry for entry in together if _names(entry, ids)]
    found = sorted([*alone, *named], key=lambda each: (each.created_at, each.id))
    return found[::-1][:limit]


def _newest(
    session: Session,
    names: Names,
    subjects: Sequence[tuple[str, Sequence[str]]],
    place: Place | None,
    limit: int,
) -> list[Deed]:
    """Return the newest entries about subjects, each kind found by their own index.

    Read from the plain table, so that no condition but these chooses the index; that
    the session may see the congregation was found out with the record.
    """
    entry = AuditEntry.metadata.tables[AuditEntry.__tablename__].c
    older = before(place, RANKS["deed"], entry.created_at, entry.id)
    parts = [
        select(entry.id).where(
            entry.subject_kind == kind,
            entry.subject_id.in_(ids),
            unindexed(entry.congregation_id) == names.congregation_id,
            older,
        )
        for kind, ids in subjects
    ]
    rows = session.execute(
        select(entry.id, entry.created_at, entry.actor, entry.summary, entry.after)
        .where(entry.id.in_(union(*parts)))
        .order_by(unindexed(entry.created_at).desc(), entry.id.desc())
        .limit(limit)
    )
    return [Deed(*row) for row in rows]


def _texts(ids: Sequence[UUID]) -> list[str]:
    return [str(id_) for id_ in ids]


def _names(entry: Deed, ids: Iterable[str]) -> bool:
    told = (entry.after or {}).get("ids", ())
    return not set(ids).isdisjoint(told)
