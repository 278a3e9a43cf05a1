"""INSERT of many rows at once, and one that leaves out what is there already."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from sqlalchemy import Table, TextClause, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from tasks.bulk import (
    ARRAYS_FROM,
    from_arrays,
    is_postgres,
    parameters,
    varied_of,
)
from tasks.models.event import Event
from tasks.models.execution import Execution
from tasks.models.operation import Operation
from tasks.models.scheduled_job import ScheduledJob


def insert_new(
    session: Session,
    model: type[Event | Execution | Operation | ScheduledJob],
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
        rows: in an order that all writers share, or two of them could deadlock; all
            with the same columns.
    """
    if not rows:
        return set()
    # The table, not the class: the ORM would look for rows of its identity map.
    table = model.metadata.tables[model.__tablename__]
    if is_postgres(session) and len(rows) >= ARRAYS_FROM:
        names = tuple(rows[0])
        varied = varied_of(rows)
        arrays = _from_arrays(table, names, varied, tuple(unique), among)
        return set(session.scalars(arrays, parameters(table, rows, varied)))
    if len(rows) == 1 or is_postgres(session):
        told = _telling(table, is_postgres(session), tuple(unique), among)
        return set(session.scalars(told, list(rows)))
    # SQLite is quickest with one row after the other, and then says only how many.
    statement = _plain(table, False, tuple(unique), among)
    done = session.execute(statement, list(rows))
    ids = [row["id"] for row in rows]
    n_new: int = done.rowcount  # type: ignore[attr-defined]  # a cursor result
    if n_new == len(rows):
        return set(ids)
    return set(session.scalars(select(table.c.id).where(table.c.id.in_(ids))))


@lru_cache
def _plain(
    table: Table,
    is_for_postgres: bool,  # a key of the cache
    unique: tuple[str, ...],
    among: TextClause | None,
) -> postgresql.Insert | sqlite.Insert:
    insert = postgresql.insert if is_for_postgres else sqlite.insert
    return insert(table).on_conflict_do_nothing(
        index_elements=list(unique), index_where=among
    )


@lru_cache
def _telling(
    table: Table,
    is_for_postgres: bool,  # a key of the cache
    unique: tuple[str, ...],
    among: TextClause | None,
) -> ReturningInsert[UUID]:
    return _plain(table, is_for_postgres, unique, among).returning(table.c.id)


@lru_cache
def _from_arrays(
    table: Table,
    names: tuple[str, ...],
    varied: tuple[str, ...],
    unique: tuple[str, ...],
    among: TextClause | None,
) -> ReturningInsert[UUID]:
    """Return an INSERT whose text is the same for any number of rows.

    Without it most of the time goes into parsing the parameters of a long VALUES list.
    """
    return (
        postgresql.insert(table)
        .from_select(names, from_arrays(table, names, varied))
        .on_conflict_do_nothing(index_elements=list(unique), index_where=among)
        .returning(table.c.id)
    )
