"""Pages of long lists by key, not by offset: page 1 000 costs what page 1 costs."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Generic, Literal, TypeVar, TypeVarTuple, overload
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Row,
    Select,
    UnaryExpression,
    literal_column,
    tuple_,
)
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.sql.operators import desc_op
from sqlalchemy.types import TypeDecorator

from tasks.errors import InvalidInput
from tasks.saying import say

T = TypeVar("T")
U = TypeVar("U")
Ts = TypeVarTuple("Ts")
Side = Literal["after", "before"]
#: One sort column, as in ``Execution.id`` or ``Execution.id.desc()``; never null.
Key = InstrumentedAttribute[Any] | ColumnElement[Any]

_CURSOR_MAX: Final = 600


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list and how to get to the ones before and after."""

    rows: Sequence[T]
    next_cursor: str | None = None  # None: this is the last page
    previous_cursor: str | None = None  # None: this is the first page

    @property
    def is_whole(self) -> bool:
        """Whether it has all rows of its list."""
        return self.next_cursor is None and self.previous_cursor is None


@overload
def paginate(
    session: Session,
    statement: Select[T],
    columns: Sequence[Key],
    cursor: str | None,
    limit: int,
) -> Page[T]: ...
@overload
def paginate(
    session: Session,
    statement: Select[T, U, *Ts],
    columns: Sequence[Key],
    cursor: str | None,
    limit: int,
) -> Page[Row[T, U, *Ts]]: ...
def paginate(
    session: Session,
    statement: Select[*tuple[Any, ...]],
    columns: Sequence[Key],
    cursor: str | None,
    limit: int,
) -> Page[Any]:
    """Return the page that ``cursor`` points to; without one, the first page.

    Args:
        session: where to read.
        statement: what to list, without ORDER BY and LIMIT; load collections with
            ``selectinload``.  One entity gives entities, several give rows.
        columns: the sort columns, all ascending or all ``.desc()``, none of them
            nullable; the last one must be unique.
        cursor: what an earlier page gave, usually ``request.args.get("cursor")``.
        limit: the most rows of one page.

    Raises:
        InvalidInput: ``bad_cursor``, it is none of ours.
    """
    keys = [_plain(column) for column in columns]
    is_descending = _is_descending(columns[0])
    side, values = _decode(cursor, keys) if cursor else ("after", None)
    forwards = side == "after"
    wants_less = is_descending == forwards
    if values is not None:
        here = tuple_(*keys)
        statement = statement.where(here < values if wants_less else here > values)
    n_columns = len(statement.column_descriptions)
    found = session.execute(
        statement.add_columns(*keys)
        .order_by(*(key.desc() if wants_less else key.asc() for key in keys))
        .limit(_written(limit + 1))
    )
    names = list(found.keys())[:n_columns]
    rows = found.all()
    has_more = len(rows) > limit
    rows = rows[:limit] if forwards else rows[:limit][::-1]
    has_previous = has_more if not forwards else values is not None
    has_next = has_more if forwards else True
    return Page(
        _selected(rows, names),
        _encode("after", rows[-1][n_columns:]) if rows and has_next else None,
        _encode("before", rows[0][n_columns:]) if rows and has_previous else None,
    )


def named(page: Page[UUID], rows: Mapping[UUID, T]) -> Page[T]:
    """Return a page of ids with what they stand for; what is gone is left out."""
    found = [rows[id_] for id_ in page.rows if id_ in rows]
    return Page(found, page.next_cursor, page.previous_cursor)


def _selected(rows: Sequence[Row[Any]], names: list[str]) -> Sequence[Any]:
    """Take away the sort columns that were read besides what was asked for."""
    if len(names) == 1:
        return [row[0] for row in rows]
    wanted = (tuple(row[: len(names)]) for row in rows)
    return IteratorResult(SimpleResultMetaData(names), wanted).all()


def _written(limit: int) -> ColumnElement[int]:
    """Return a limit that stands in the statement.

    PostgreSQL takes a parameter for a tenth of the table, so it would never keep the
    plan, and planning takes longer than reading the page.
    """
    return literal_column(str(limit), Integer)


def _plain(column: Key) -> ColumnElement[Any] | InstrumentedAttribute[Any]:
    return column.element if isinstance(column, UnaryExpression) else column


def _is_descending(column: Key) -> bool:
    return isinstance(column, UnaryExpression) and column.modifier is desc_op


def _encode(side: Side, values: Sequence[Any]) -> str:
    texts = [v.isoformat() if isinstance(v, datetime) else v for v in values]
    data = json.dumps([side, *texts], default=str, separators=(",", ":"))
    return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")


def _decode(cursor: str, keys: Sequence[Any]) -> tuple[Side, tuple[Any, ...]]:
    if len(cursor) > _CURSOR_MAX or not cursor.isascii():
        raise _bad_cursor()
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        side, *texts = json.loads(base64.urlsafe_b64decode(padded))
        if side not in ("after", "before") or len(texts) != len(keys):
            raise _bad_cursor()
        values = [_typed(text, key) for text, key in zip(texts, keys, strict=True)]
    except (
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
        binascii.Error,
    ) as error:
        raise _bad_cursor() from error
    return side, tuple(values)


def _typed(value: object, key: Key) -> object:
    column_type = key.type
    if isinstance(column_type, TypeDecorator):
        column_type = column_type.impl_instance
    kind = column_type.python_type
    if kind is datetime:
        moment = datetime.fromisoformat(str(value))
        if moment.tzinfo is None:
            raise ValueError("a cursor's instants are aware")
        return moment.astimezone(UTC)
    if kind is date:
        return date.fromisoformat(str(value))
    if kind is UUID:
        return UUID(str(value))
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    _refuse_untakeable(value, is_big=isinstance(column_type, BigInteger))
    return value


def _refuse_untakeable(value: object, *, is_big: bool) -> None:
    """Raise ``ValueError`` for numbers and texts that no column can have."""
    if isinstance(value, int) and value.bit_length() > (63 if is_big else 31):
        raise ValueError("no such column has so high a number")
    if isinstance(value, str) and b"\0" in value.encode():  # half a character raises
        raise ValueError("no database of ours takes NUL")


def _bad_cursor() -> InvalidInput:
    return InvalidInput(
        "bad_cursor",
        say("This page of the list cannot be found; go to the list's start."),
        field="cursor",
    )
