"""What the audit page reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.models import AuditEntry, Congregation

#: Stands in a diff for a key that one side does not have.
ABSENT = "—"


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are asked for; None or empty: any."""

    actor: str = ""  # a part of the name
    action: str = ""  # the action, or its beginning, such as "rule."
    subject_kind: str = ""
    subject_id: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether every entry is asked for."""
        return self == AuditFilter()


@dataclass(frozen=True, slots=True)
class Change:
    """One value of an entry, before and after."""

    key: str
    before: Any
    after: Any


def entries(
    session: Session, wanted: AuditFilter, cursor: str | None, limit: int
) -> Page[AuditEntry]:
    """Return a page of audit entries, newest first."""
    statement = select(AuditEntry)
    if wanted.actor:
        statement = statement.where(
            AuditEntry.actor.icontains(wanted.actor, autoescape=True)
        )
    if wanted.action:
        statement = statement.where(
            AuditEntry.action.startswith(wanted.action, autoescape=True)
        )
    if wanted.subject_kind:
        statement = statement.where(AuditEntry.subject_kind == wanted.subject_kind)
    if wanted.subject_id:
        statement = statement.where(AuditEntry.subject_id == wanted.subject_id)
    if wanted.since is not None:
        statement = statement.where(AuditEntry.created_at >= wanted.since)
    if wanted.until is not None:
        statement = statement.where(AuditEntry.created_at < wanted.until)
    columns = (AuditEntry.created_at.desc(), AuditEntry.id.desc())
    return paginate(session, statement, columns, cursor, limit)


def congregations_of(
    session: Session, entries: Iterable[AuditEntry]
) -> Mapping[UUID, Congregation]:
    """Return the congregations that these entries are about, in one query."""
    ids = {each.congregation_id for each in entries if each.congregation_id}
    if not ids:
        return {}
    rows = session.scalars(select(Congregation).where(Congregation.id.in_(ids)))
    return {row.id: row for row in rows}


def changes(entry: AuditEntry) -> list[Change]:
    """Return what an entry changed, key by key; what stayed the same is left out.

    >>> entry = AuditEntry(before={"a": 1, "b": 2}, after={"a": 1, "b": 3})
    >>> [(each.key, each.before, each.after) for each in changes(entry)]
    [('b', 2, 3)]
    """
    before, after = entry.before or {}, entry.after or {}
    return [
        Change(key, before.get(key, ABSENT), after.get(key, ABSENT))
        for key in dict.fromkeys([*before, *after])
        if before.get(key, ABSENT) != after.get(key, ABSENT)
    ]
