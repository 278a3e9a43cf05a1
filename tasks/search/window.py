"""The newest rows of a table, found before anything is looked for in them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, ColumnElement, Select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _IsAmong(FunctionElement[bool]):
    """Whether a column has one of the values that a SELECT finds."""

    type = Boolean()
    inherit_cache = True
    #: Else SQLite is asked whether it "= 1", and looks at every row for that.
    _is_implicitly_boolean = True


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


@compiles(_IsAmong, "postgresql")
def _is_any(element: _IsAmong, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    column, found = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} = ANY(ARRAY{found})"
