"""The newest rows of a table, found before anything is looked for in them."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Select,
    and_,
    inspect,
    literal_column,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import aliased
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

#: What statements call the rows that were found first.
_NAME: Final = "newest"
S = TypeVar("S", bound=Select[Any])


class Rows:
    """The columns of some rows of a table, found first, and the names of others.

    To make the columns of a subquery takes longer than to search it.  So these are
    made once, as text; ``of`` says where they come from.
    """

    def __init__(self, model: Any) -> None:  # noqa: ANN401  # a model
        """Rows of ``model``, whose names are looked up by nobody yet."""
        self._model = model
        self._named: dict[Any, str] = {}  # model -> the rows' column with its id

    def __getattr__(self, name: str) -> ColumnElement[Any]:
        """Return a column of the rows."""
        return _column(self._model, name)

    @property
    def has_names(self) -> bool:
        """Whether names of others are looked up."""
        return bool(self._named)

    def name(self, table: Any, name: Any, id_: str) -> ColumnElement[Any]:  # noqa: ANN401  # a model, its column
        """Return the name of what the rows are about; null where it names nothing.

        Args:
            table: the model of what has the name.
            name: its column with the name.
            id_: the name of the rows' column with its id.
        """
        self._named[table] = id_
        found: ColumnElement[Any] = getattr(_other(table), name.key)
        return found

    def of(self, statement: S, found: Select[Any]) -> S:
        """Return ``statement`` about the rows that ``found`` selects.

        Call it when all conditions are made: only names that they ask for are joined.
        """
        statement = statement.select_from(found.subquery(_NAME))
        for table, id_ in self._named.items():
            other = _other(table)
            # A join of entities: a session with a scope narrows it where it joins, so
            # that a row which names nothing stays.
            statement = statement.outerjoin(
                other,
                and_(
                    other.congregation_id == self.congregation_id,
                    other.id == getattr(self, id_),
                ),
            )
        return statement


@cache  # as many as models have columns
def _column(model: Any, name: str) -> ColumnElement[Any]:  # noqa: ANN401  # a model
    if (column := inspect(model).columns.get(name)) is None:
        raise AttributeError(f"{model.__name__} has no column {name}")
    return literal_column(f"{_NAME}.{column.name}", column.type)


@cache  # as many as models have names
def _other(table: Any) -> Any:  # noqa: ANN401  # a model, its alias
    return aliased(table, name=f"{_NAME}_{table.__tablename__}")


class _IsAmong(FunctionElement[bool]):
    """Whether a column has one of the values that a SELECT finds."""

    type = Boolean()
    inherit_cache = True
    #: Else SQLite is asked whether it "= 1", and looks at every row for that.
    _is_implicitly_boolean = True


class _ComesFirst(_IsAmong):
    inherit_cache = True


def comes_first(
    column: Any,  # noqa: ANN401  # any column of ids
    found: Select[Any],
    condition: ColumnElement[bool],
) -> ColumnElement[bool]:
    """Return the condition of rows that are then cut to the first of them.

    PostgreSQL gets their ids from an index alone, and then their rows; where it reads
    rows at once it goes through those of all congregations.  SQLite does neither.

    Args:
        column: the ids of the rows.
        found: what selects the ids of the first rows, in the rows' order.
        condition: which rows they are.
    """
    return _ComesFirst(column, found.scalar_subquery(), condition)


def is_among_first(column: Any, found: Select[Any]) -> ColumnElement[bool]:  # noqa: ANN401  # any column
    """Return whether ``column`` is among what ``found`` selects, which comes first.

    To PostgreSQL a search by text is likely to find next to nothing, so it would begin
    with the text, and read the whole table, before it looks at a plain IN.
    """
    return _IsAmong(column, found.scalar_subquery())


@compiles(_IsAmong)
def _is_in(element: _IsAmong, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    column, found = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} IN {found}"


@compiles(_ComesFirst)
def _is_so(element: _ComesFirst, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    *_, condition = element.clauses
    return compiler.process(condition, **options)


@compiles(_IsAmong, "postgresql")
@compiles(_ComesFirst, "postgresql")
def _is_any(element: _IsAmong, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    column, found, *_ = element.clauses
    ids = compiler.process(found, **options)
    return f"{compiler.process(column, **options)} = ANY(ARRAY{ids})"
