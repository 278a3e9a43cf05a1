"""Hours, seconds and buckets in SQL, on both databases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Float, case
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from tasks.models.base import UtcDateTime
from tasks.models.rollup import BOUNDS


class hour_of(FunctionElement[datetime]):  # noqa: N801  # reads as the SQL function it is
    """``hour_of(instant)``: the start of its hour in UTC."""

    type = UtcDateTime()
    inherit_cache = True
    name = "hour_of"


class seconds_between(FunctionElement[float]):  # noqa: N801  # as above
    """``seconds_between(first, last)``: how many seconds later ``last`` is."""

    type = Float()
    inherit_cache = True
    name = "seconds_between"


def bucket_of(seconds: ColumnElement[float]) -> ColumnElement[int]:
    """Return the number of the bucket of ``BOUNDS`` that ``seconds`` falls into."""
    return case(
        *((seconds <= bound, n) for n, bound in enumerate(BOUNDS)), else_=len(BOUNDS)
    )


def later_of(
    first: InstrumentedAttribute[datetime], second: InstrumentedAttribute[datetime]
) -> ColumnElement[datetime]:
    """Return the later one of two instants that are not null."""
    return case((first > second, first), else_=second)


def _given(
    element: FunctionElement[Any], compiler: SQLCompiler, options: dict[str, Any]
) -> list[str]:
    return [compiler.process(each, **options) for each in element.clauses]


@compiles(hour_of, "postgresql")
def _hour_on_postgres(
    element: hour_of,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    (instant,) = _given(element, compiler, options)
    return f"date_trunc('hour', {instant}, 'UTC')"


@compiles(hour_of, "sqlite")
def _hour_on_sqlite(
    element: hour_of,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    (instant,) = _given(element, compiler, options)
    return f"strftime('%Y-%m-%d %H:00:00.000000', {instant})"


@compiles(seconds_between, "postgresql")
def _between_on_postgres(
    element: seconds_between,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    first, last = _given(element, compiler, options)
    return f"extract(epoch FROM ({last} - {first}))"


@compiles(seconds_between, "sqlite")
def _between_on_sqlite(
    element: seconds_between,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    first, last = _given(element, compiler, options)
    return f"((julianday({last}) - julianday({first})) * 86400.0)"
