"""Days as a congregation's calendar shows them, and counting with them in SQL."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Date, Integer, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from tasks.automation.zones import first_zone
from tasks.errors import NotFound
from tasks.models.congregation import Congregation
from tasks.saying import say


def local_day(now: datetime, timezone: str) -> date:
    """Return the day that calendars of ``timezone`` show; an unknown zone is UTC.

    >>> from datetime import UTC
    >>> local_day(datetime(2026, 3, 10, 13, 0, tzinfo=UTC), "Pacific/Noumea")
    datetime.date(2026, 3, 11)
    """
    return now.astimezone(ZoneInfo(first_zone(timezone))).date()


def today_of(session: Session, congregation_id: UUID, now: datetime) -> date:
    """Return the congregation's local day.

    Raises:
        NotFound: the session sees no such congregation.
    """
    timezone = session.scalar(
        select(Congregation.timezone).where(Congregation.id == congregation_id)
    )
    if timezone is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    return local_day(now, timezone)


def locked(session: Session, congregation_id: UUID) -> Congregation:
    """Return the congregation, locked until the transaction ends.

    What must not happen twice at once to one congregation waits here.  Rows that only
    point to it, such as its events, are still written meanwhile.

    Raises:
        NotFound: the session sees no such congregation.
    """
    row = session.scalar(
        select(Congregation)
        .where(Congregation.id == congregation_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    return row


class plus_days(FunctionElement[date]):  # noqa: N801  # reads as the SQL function it is
    """``plus_days(day, n)``: the day ``n`` days later, in SQL."""

    type = Date()
    inherit_cache = True
    name = "plus_days"


class days_between(FunctionElement[int]):  # noqa: N801  # as above
    """``days_between(first, last)``: how many days later ``last`` is, in SQL."""

    type = Integer()
    inherit_cache = True
    name = "days_between"


def a_day(day: date) -> ColumnElement[date]:
    """Return a day as a value of a statement."""
    return bindparam(None, day, Date(), unique=True)


def _arguments(
    element: FunctionElement[Any], compiler: SQLCompiler, options: dict[str, Any]
) -> tuple[str, str]:
    first, second = element.clauses
    return compiler.process(first, **options), compiler.process(second, **options)


@compiles(plus_days, "postgresql")
def _plus_on_postgres(
    element: plus_days,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    day, n = _arguments(element, compiler, options)
    return f"({day} + CAST({n} AS INTEGER))"


@compiles(plus_days, "sqlite")
def _plus_on_sqlite(
    element: plus_days,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    day, n = _arguments(element, compiler, options)
    return f"date({day}, ({n}) || ' days')"


@compiles(days_between, "postgresql")
def _between_on_postgres(
    element: days_between,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    first, last = _arguments(element, compiler, options)
    return f"(CAST({last} AS DATE) - CAST({first} AS DATE))"


@compiles(days_between, "sqlite")
def _between_on_sqlite(
    element: days_between,
    compiler: SQLCompiler,
    **options: Any,  # noqa: ANN401  # the compiler's own
) -> str:
    first, last = _arguments(element, compiler, options)
    return f"CAST(julianday({last}) - julianday({first}) AS INTEGER)"
