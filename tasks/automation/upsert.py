"""INSERT of many rows at once, and one that leaves out what is there already."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Insert, Table, TextClause, bindparam, column, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.models.event import Event
from tasks.models.execution import Execution
from tasks.models.scheduled_job import ScheduledJob

#: From here on, arrays beat one set of parameters for each row.
_ARRAYS_FROM: Final = 3


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
        rows: in an order that all writers share, or two of them could deadlock; all
            with the same columns.
    """
    if not rows:
        return set()
    # The table, not the class: the ORM would look for rows of its identity map.
    table = model.metadata.tables[model.__tablename__]
    if is_postgres(session) and len(rows) >= _ARRAYS_FROM:
        names = tuple(rows[0])
        statement = _from_arrays(table, names, tuple(unique), among)
        arrays = {name: [row[name] for row in rows] for name in names}
        return set(session.scalars(statement, arrays))
    dialect = postgresql if is_postgres(session) else sqlite
    plain = (
        dialect.insert(table)
        .on_conflict_do_nothing(index_elements=list(unique), index_where=among)
        .returning(table.c.id)
    )
    return set(session.scalars(plain, list(rows)))


@lru_cache
def _from_arrays(
    table: Table,
    names: tuple[str, ...],
    unique: tuple[str, ...],
    among: TextClause | None,
) -> Insert:
    """Return an INSERT whose text is the same for any number of rows.

    Without it most of the time goes into parsing the parameters of a long VALUES list.
    """
    kinds = {name: table.c[name].type for name in names}
    arrays = (bindparam(name, type_=ARRAY(kind)) for name, kind in kinds.items())
    columns = (column(name, kind) for name, kind in kinds.items())
    new = func.unnest(*arrays).table_valued(*columns, name="new").render_derived()
    return (
        postgresql.insert(table)
        .from_select(names, select(*(new.c[name] for name in names)))
        .on_conflict_do_nothing(index_elements=list(unique), index_where=among)
        .returning(table.c.id)
    )
