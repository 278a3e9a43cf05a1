"""Rows looked up by several columns at once, in words that let an index be used.

SQLite reads the whole table for ``(a, b) IN ((1, 2), (3, 4))``, however large it is and
whatever indexes it has: only a SELECT on the right side is looked up row by row.
PostgreSQL compares such a list with whatever it reads of a young table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    bindparam,
    case,
    func,
    literal_column,
    select,
    tuple_,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.types import TypeEngine

from tasks.arrays import array, values_of

Columns = Sequence[ColumnElement[Any] | InstrumentedAttribute[Any]]
Key = Sequence[Any]
_SQLITE: Final = sqlite.dialect()


def among_keys(
    session: Session, columns: Columns, keys: Sequence[Key]
) -> ColumnElement[bool]:
    """Return the condition that the columns have the values of one of ``keys``."""
    named = tuple_(*columns)
    if session.get_bind().dialect.name != "sqlite":
        return named.in_(_side_by_side(columns, keys))
    return named.in_(_given(bindparam(None, packed(columns, keys), Text), len(columns)))


def _side_by_side(columns: Columns, keys: Sequence[Key]) -> Select[*tuple[Any, ...]]:
    """Return keys as rows for PostgreSQL, which compares a list with each row it reads.

    So the statement is the same for any number of keys, too.
    """
    values = list(zip(*keys, strict=True)) or [()] * len(columns)
    each = (
        func.unnest(array(None, column.type, values_of(column.type, some)))
        for column, some in zip(columns, values, strict=True)
    )
    return select(*each)


def is_among_keys(columns: Columns, name: str) -> ColumnElement[bool]:
    """Return the same for a statement that is made once, on SQLite.

    Args:
        name: of the parameter, whose value is ``packed``.
    """
    return tuple_(*columns).in_(_given(bindparam(name, type_=Text), len(columns)))


def unindexed(
    column: ColumnElement[Any] | InstrumentedAttribute[Any],
) -> ColumnElement[Any]:
    """Return a column in words in which SQLite sees no index of it.

    For what another index serves far better, which SQLite cannot know: it has learned
    nothing of how many rows there are.  PostgreSQL, which has, sees the column.
    """
    return case((literal_column("1") == literal_column("1"), column))


def packed(columns: Columns, keys: Sequence[Key]) -> str:
    """Return keys as one parameter, each value as SQLite stores it."""
    written = [_writer(column.type) for column in columns]
    return json.dumps(
        [
            [write(value) for write, value in zip(written, key, strict=True)]
            for key in keys
        ]
    )


def _given(keys: ColumnElement[str], n: int) -> Select[*tuple[Any, ...]]:
    each = func.json_each(keys).table_valued("value")
    places = [literal_column(f"'$[{number}]'", Text) for number in range(n)]
    return select(*(func.json_extract(each.c.value, place) for place in places))


def _writer(kind: TypeEngine[Any]) -> Callable[[Any], Any]:
    return kind.dialect_impl(_SQLITE).bind_processor(_SQLITE) or _as_it_is


def _as_it_is(value: object) -> object:
    return value
