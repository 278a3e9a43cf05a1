"""Many rows in one statement: what differs from row to row goes as arrays.

PostgreSQL takes arrays, so the statement is the same for any number of rows: it is
compiled, parsed and planned once.  SQLite has no round trips to save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Table,
    Update,
    and_,
    any_,
    bindparam,
    column,
    func,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute, Session

#: Puts a row's value and the column as it is together to what the column becomes.
Merge = Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]

_PREFIX: Final = "new_"


def is_postgres(session: Session) -> bool:
    """Whether the session's database takes arrays."""
    return session.get_bind().dialect.name == "postgresql"


def among(
    session: Session, attribute: InstrumentedAttribute[Any], values: Sequence[Any]
) -> ColumnElement[bool]:
    """Return the condition that the column has one of ``values``."""
    if not is_postgres(session):
        return attribute.in_(values)
    array = bindparam(None, list(values), type_=ARRAY(attribute.type))
    return attribute == any_(array)


class BulkUpdate:
    """An UPDATE that gives each row values of its own.

    Args:
        keys: columns that say which row is meant.
        columns: columns that get new values.
        merge: for columns whose new value depends on what is there.
    """

    def __init__(
        self,
        table: Table,
        *,
        keys: Sequence[str],
        columns: Sequence[str],
        merge: Mapping[str, Merge] | None = None,
        constant: Mapping[str, Any] | None = None,
    ) -> None:
        self._table = table
        self._keys = tuple(keys)
        self._columns = tuple(columns)
        self._merge = dict(merge or {})
        self._constant = dict(constant or {})
        self._for_arrays = lru_cache(self._make_for_arrays)
        self._for_rows = lru_cache(self._make_for_rows)

    def __call__(self, session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
        """Update ``rows``: mappings from every key and column to its value."""
        if not rows:
            return
        names = (*self._keys, *self._columns)
        if is_postgres(session):
            arrays = {f"{_PREFIX}{name}": [row[name] for row in rows] for name in names}
            session.execute(self._for_arrays(), arrays)
        else:
            session.execute(
                self._for_rows(),
                [{f"{_PREFIX}{name}": row[name] for name in names} for row in rows],
            )

    def _make_for_arrays(self) -> Update:
        types = {
            name: self._table.c[name].type for name in (*self._keys, *self._columns)
        }
        arrays = (
            bindparam(f"{_PREFIX}{name}", type_=ARRAY(kind))
            for name, kind in types.items()
        )
        columns = (column(f"{_PREFIX}{name}", kind) for name, kind in types.items())
        new = func.unnest(*arrays).table_valued(*columns, name="new").render_derived()
        return self._update({name: new.c[f"{_PREFIX}{name}"] for name in types})

    def _make_for_rows(self) -> Update:
        return self._update(
            {
                name: bindparam(f"{_PREFIX}{name}", type_=self._table.c[name].type)
                for name in (*self._keys, *self._columns)
            }
        )

    def _update(self, new: Mapping[str, ColumnElement[Any]]) -> Update:
        values = {
            name: merge(new[name], self._table.c[name])
            if (merge := self._merge.get(name))
            else new[name]
            for name in self._columns
        }
        return (
            update(self._table)
            .where(and_(*(self._table.c[name] == new[name] for name in self._keys)))
            .values(values | self._constant)
        )
