"""What the audit page reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.models import AuditEntry, Congregation

#: Stands in a diff for a key that one side does not have.
ABSENT = "—"
#: Newest first.
KEYS: Final[tuple[Key, ...]] = (AuditEntry.created_at.desc(), AuditEntry.id.desc())


@dataclass(frozen=True, slots=True)
class Change:
    """One value of an entry, before and after."""

    key: str
    before: Any
    after: Any


def listed(wanted: Sequence[ColumnElement[bool]]) -> Select[AuditEntry]:
    """Select the entries for which all of ``wanted`` holds."""
    return select(AuditEntry).where(*wanted)


def entries(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[AuditEntry]:
    """Return a page of audit entries, newest first."""
    return paginate(session, listed(wanted), KEYS, cursor, limit)


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
