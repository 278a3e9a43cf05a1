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
    Insert,
    Row,
    Select,
    Table,
    Update,
    and_,
    any_,
    bindparam,
    cast,
    column,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.types import TypeEngine

from tasks.arrays import array, elements, values_of
from tasks.lookups import among_keys

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
    return attribute == any_(_given(attribute.type, values))


def among_rows(
    session: Session, attribute: InstrumentedAttribute[Any], values: Sequence[Any]
) -> ColumnElement[bool]:
    """Return the same condition for many values and a table that may be young.

    PostgreSQL reads all of such a table, and with an array it would compare each row
    with each value; these it looks up.
    """
    if not is_postgres(session):
        return attribute.in_(values)
    return attribute.in_(select(func.unnest(_given(attribute.type, values))))


def is_among(
    attribute: InstrumentedAttribute[Any],
    name: str,
    *,
    takes_arrays: bool,
) -> ColumnElement[bool]:
    """Return the condition of ``among`` for the parameter ``name``.

    For statements that are made once: making one takes longer than running it.
    """
    if takes_arrays:
        return attribute == any_(array(name, attribute.type))
    return attribute.in_(bindparam(name, expanding=True))


def given(
    session: Session, attribute: InstrumentedAttribute[Any], values: Sequence[Any]
) -> Any:  # noqa: ANN401  # a text or a list
    """Return ``values`` as the parameter of ``is_among`` wants them."""
    return values_of(attribute.type, values) if is_postgres(session) else list(values)


def _given(kind: TypeEngine[Any], values: Sequence[Any]) -> ColumnElement[Any]:
    return array(None, kind, values_of(kind, values))


def _is_uniform(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    first = rows[0][name]
    if rows[-1][name] != first:
        return False  # most columns of keys end here
    return [row[name] for row in rows].count(first) == len(rows)


class BulkUpdate:
    """An UPDATE that gives each row values of its own.

    Args:
        keys: columns that say which row is meant.
        columns: columns that get new values.
        merge: for columns whose new value depends on what is there.
        constant: columns that get the same value in every row, always.
        where: what must hold besides the keys.
        returning: columns, never among those that are updated, to give back.
    """

    def __init__(
        self,
        table: Table,
        *,
        keys: Sequence[str],
        columns: Sequence[str],
        merge: Mapping[str, Merge] | None = None,
        constant: Mapping[str, Any] | None = None,
        where: Sequence[ColumnElement[bool]] = (),
        returning: Sequence[str] = (),
    ) -> None:
        self._table = table
        self._keys = tuple(keys)
        self._columns = tuple(columns)
        self._merge = dict(merge or {})
        self._constant = dict(constant or {})
        self._returning = tuple(returning)
        self._where = tuple(where)
        self._for_arrays = lru_cache(self._make_for_arrays)
        self._for_rows = lru_cache(self._make_for_rows)

    def __call__(
        self, session: Session, rows: Sequence[Mapping[str, Any]]
    ) -> Sequence[Row[*tuple[Any, ...]]]:
        """Update ``rows``: mappings from every key and column to its value.

        Returns ``returning`` of the rows that were there, in any order.
        """
        if not rows:
            return ()
        if is_postgres(session):
            varied = frozenset(n for n in self._columns if not _is_uniform(rows, n))
            result = session.execute(self._for_arrays(varied), self._sets(rows, varied))
            return result.all() if self._returning else ()
        found = self._found(session, rows)
        parameters = [
            {f"{_PREFIX}{name}": row[name] for name in (*self._keys, *self._columns)}
            for row in rows
        ]
        session.execute(self._for_rows(), parameters)
        return found

    def _sets(
        self, rows: Sequence[Mapping[str, Any]], varied: frozenset[str]
    ) -> dict[str, Any]:
        """Return the parameters: an array, or the one value that all rows share."""
        sets: dict[str, Any] = {
            f"{_PREFIX}{name}": values_of(
                self._table.c[name].type, [row[name] for row in rows]
            )
            for name in (*self._keys, *varied)
        }
        for name in self._columns:
            sets.setdefault(f"{_PREFIX}{name}", rows[0][name])
        return sets

    def _found(
        self, session: Session, rows: Sequence[Mapping[str, Any]]
    ) -> Sequence[Row[*tuple[Any, ...]]]:
        """Read what is to be returned, before it changes; nobody else writes now."""
        if not self._returning:
            return ()
        keys = [self._table.c[name] for name in self._keys]
        wanted = [tuple(row[name] for name in self._keys) for row in rows]
        is_meant = among_keys(session, keys, wanted)
        columns = (self._table.c[name] for name in self._returning)
        return session.execute(select(*columns).where(is_meant, *self._where)).all()

    def _make_for_arrays(self, varied: frozenset[str]) -> ReturningUpdate[Any] | Update:
        types = {name: self._table.c[name].type for name in self._keys}
        types |= {name: self._table.c[name].type for name in sorted(varied)}
        arrays = (array(f"{_PREFIX}{name}", kind) for name, kind in types.items())
        columns = (column(f"{_PREFIX}{name}", kind) for name, kind in types.items())
        new = func.unnest(*arrays).table_valued(*columns, name="new").render_derived()
        values = {name: new.c[f"{_PREFIX}{name}"] for name in types}
        shared = {n: self._bound(n) for n in self._columns if n not in varied}
        made = self._update(values | shared)
        columns_back = [self._table.c[name] for name in self._returning]
        return made.returning(*columns_back) if columns_back else made

    def _make_for_rows(self) -> Update:
        return self._update(
            {name: self._bound(name) for name in (*self._keys, *self._columns)}
        )

    def _bound(self, name: str) -> ColumnElement[Any]:
        return bindparam(f"{_PREFIX}{name}", type_=self._table.c[name].type)

    def _update(self, new: Mapping[str, ColumnElement[Any]]) -> Update:
        values = {
            name: merge(new[name], self._table.c[name])
            if (merge := self._merge.get(name))
            else new[name]
            for name in self._columns
        }
        return (
            update(self._table)
            .where(
                and_(*(self._table.c[name] == new[name] for name in self._keys)),
                *self._where,
            )
            .values(values | self._constant)
        )


#: From here on, arrays beat one set of parameters for each row.
ARRAYS_FROM: Final = 3


def insert_many(
    session: Session, table: Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert ``rows``, which all have the same columns; the caller commits."""
    if not rows:
        return
    if not is_postgres(session) or len(rows) < ARRAYS_FROM:
        session.execute(_insert_into(table), list(rows))
        return
    varied = varied_of(rows)
    statement = _insert_from(table, tuple(rows[0]), varied)
    session.execute(statement, parameters(table, rows, varied))


@lru_cache
def _insert_into(table: Table) -> Insert:
    return insert(table)


def update_many(
    session: Session, table: Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Give locked rows new values by their ``id``; the caller commits.

    Unlike ``BulkUpdate`` it takes any columns, also JSON; all rows have the same.
    """
    if not rows:
        return
    names = tuple(rows[0])
    if is_postgres(session):
        varied = tuple({"id": None, **dict.fromkeys(varied_of(rows))})
        given = parameters(table, rows, varied)
        sets = {f"{_PREFIX}{name}": value for name, value in given.items()}
        session.execute(_update_from(table, names, varied), sets)
        return
    each = [{f"{_PREFIX}{name}": row[name] for name in names} for row in rows]
    session.execute(_update_each(table, names), each)


@lru_cache
def _update_from(
    table: Table, names: tuple[str, ...], varied: tuple[str, ...]
) -> Update:
    """Return an UPDATE whose text is the same for any number of rows."""
    given = from_arrays(table, names, varied, prefix=_PREFIX).subquery("given")
    new = dict(zip(names, given.c, strict=True))
    return update(table).where(table.c.id == new.pop("id")).values(new)


@lru_cache
def _update_each(table: Table, names: tuple[str, ...]) -> Update:
    new = {n: bindparam(f"{_PREFIX}{n}", type_=table.c[n].type) for n in names}
    return update(table).where(table.c.id == new.pop("id")).values(new)


def varied_of(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns that differ from row to row; never none."""
    names = tuple(rows[0])
    return tuple(n for n in names if not _is_uniform(rows, n)) or names[:1]


def parameters(
    table: Table, rows: Sequence[Mapping[str, Any]], varied: tuple[str, ...]
) -> dict[str, Any]:
    """Return the parameters of ``from_arrays``."""
    arrays = {
        name: values_of(table.c[name].type, [row[name] for row in rows])
        for name in varied
    }
    return {**rows[0], **arrays}


@lru_cache
def _insert_from(
    table: Table, names: tuple[str, ...], varied: tuple[str, ...]
) -> Insert:
    """Return an INSERT whose text is the same for any number of rows."""
    return insert(table).from_select(names, from_arrays(table, names, varied))


def from_arrays(
    table: Table, names: tuple[str, ...], varied: tuple[str, ...], *, prefix: str = ""
) -> Select[*tuple[Any, ...]]:
    """Return a SELECT of rows whose ``varied`` columns come as one array each.

    The others have one value for all rows; each parameter has its column's name, behind
    ``prefix``, which an UPDATE needs.
    """
    kinds = {name: table.c[name].type for name in names}
    # Functions that return rows go side by side, row by row, in a list of columns.
    new = select(
        *(elements(f"{prefix}{name}", kinds[name]).label(name) for name in varied)
    )
    rows = new.subquery("new")
    return select(
        *(
            rows.c[name]
            if name in varied
            else cast(bindparam(f"{prefix}{name}", type_=kinds[name]), kinds[name])
            for name in names
        )
    )
