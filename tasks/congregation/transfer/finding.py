"""Which row of ours a row of an archive is; asked for many at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from tasks.congregation.transfer.entity import Entity, Row
from tasks.db import Begin, reading
from tasks.lookups import among_keys
from tasks.models import ExternalRef

#: A row as it is here: column -> value.
Here = Mapping[str, Any]


class How(Enum):
    """By what a row was recognised."""

    ID = "its own id"  # the archive is one of this congregation
    REF = "an earlier import"
    KEY = "a name, number or address that is unique"


@dataclass(frozen=True, slots=True)
class Found:
    """A row of ours."""

    row: Here
    how: How


@dataclass(frozen=True)
class Target:
    """The congregation that an archive comes into; only its own rows are seen."""

    begin: Begin
    congregation_id: UUID

    @cached_property
    def dialect(self) -> Dialect:
        """The database's kind."""
        with self.reading() as session:
            return session.get_bind().dialect

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a short transaction that only reads."""
        with self.begin() as session:
            reading(session)
            yield session

    def where(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row is the congregation's."""
        return table.c.congregation_id == self.congregation_id

    def by(
        self, session: Session, table: Table, columns: Sequence[str], keys: set[Any]
    ) -> Mapping[tuple[Any, ...], Here]:
        """Return the rows whose columns have one of ``keys``, by those columns."""
        if not keys:
            return {}
        matches: ColumnElement[bool]
        if len(columns) == 1:
            matches = table.c[columns[0]].in_([key[0] for key in keys])
        else:
            named = [table.c[name] for name in columns]
            matches = among_keys(session, named, list(keys))
        found = session.execute(select(table).where(self.where(table), matches))
        rows: list[Here] = [dict(row) for row in found.mappings()]
        return {tuple(row[name] for name in columns): row for row in rows}

    def all_of(
        self,
        session: Session,
        table: Table,
        where: ColumnElement[bool] | None = None,
        *,
        limit: int | None = 2,
    ) -> Sequence[Here]:
        """Return the rows that match a condition, of tables that have few."""
        statement = select(table).where(self.where(table))
        if where is not None:
            statement = statement.where(where)
        return [dict(row) for row in session.execute(statement.limit(limit)).mappings()]


def refs_of(
    session: Session, target: Target, source: str, entity: str, olds: Sequence[str]
) -> Mapping[str, UUID]:
    """Return what earlier imports made of old ids; the rows may be gone by now."""
    found = session.execute(
        select(ExternalRef.external_id, ExternalRef.row_id).where(
            ExternalRef.congregation_id == target.congregation_id,
            ExternalRef.source == source,
            ExternalRef.entity == entity,
            ExternalRef.external_id.in_(olds),
        )
    )
    return {row.external_id: row.row_id for row in found}


def find(
    session: Session,
    target: Target,
    source: str,
    entity: Entity,
    rows: Sequence[tuple[str, Row]],
) -> Sequence[Found | None]:
    """Return our row for each of ``rows``, which have an old id each.

    By its id or an earlier import first, then by what is unique of it.
    """
    if entity.is_single:
        here = target.all_of(session, entity.table)
        return [Found(here[0], How.KEY) if here else None for _ in rows]
    by_old = _by_old(session, target, source, entity, [old for old, _ in rows])
    names = entity.natural
    keys = [_key(row, names) for _, row in rows]
    here_by_key = (
        target.by(session, entity.table, names, {key for key in keys if key})
        if names
        else {}
    )
    found: list[Found | None] = []
    for (old, _), key in zip(rows, keys, strict=True):
        by_key = here_by_key.get(key) if key else None
        found.append(by_old.get(old) or (Found(by_key, How.KEY) if by_key else None))
    return found


def _by_old(
    session: Session, target: Target, source: str, entity: Entity, olds: Sequence[str]
) -> Mapping[str, Found]:
    if not entity.has_id:
        return {}
    is_own = source == str(target.congregation_id)
    ids: Mapping[str, UUID] = (
        {old: id_ for old in olds if (id_ := _uuid(old))}
        if is_own
        else refs_of(session, target, source, entity.name, olds)
    )
    rows = target.by(session, entity.table, ("id",), {(id_,) for id_ in ids.values()})
    how = How.ID if is_own else How.REF
    return {old: Found(rows[id_,], how) for old, id_ in ids.items() if (id_,) in rows}


def _key(row: Row, names: Sequence[str]) -> tuple[Any, ...] | None:
    """Return a row's key; None: a part of it is not there."""
    key = tuple(row.get(name) for name in names)
    return None if any(part is None for part in key) else key


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
