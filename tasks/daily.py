"""Lanes that do something once a day for each congregation, at an hour in UTC.

Such a lane sweeps every few minutes and asks here for whom its hour has struck.  What
was done is kept for each congregation: an hour that was missed is made up for once, at
the next sweep, and a congregation that fails holds up no other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.errors import words_of
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models.congregation import Congregation
from tasks.models.daily import DailyRun
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work

logger = logging.getLogger(__name__)

#: A congregation that failed is tried again after this long.
RETRY_AFTER: Final = timedelta(hours=1)
#: … or after this, when the database was busy, as with two that wait for each other.
RETRY_SOON: Final = timedelta(minutes=5)
_ERROR_MAX: Final = 1_000


def day_of(now: datetime, hour: int) -> date:
    """Return the UTC day whose ``hour`` has struck last, 0 to 23.

    >>> from datetime import UTC
    >>> day_of(datetime(2026, 3, 10, 2, 59, tzinfo=UTC), 3)
    datetime.date(2026, 3, 9)
    >>> day_of(datetime(2026, 3, 10, 3, 0, tzinfo=UTC), 3)
    datetime.date(2026, 3, 10)
    """
    return (now - timedelta(hours=hour)).date()


def struck_at(now: datetime, hour: int) -> datetime:
    """Return when a UTC day's ``hour`` has struck last.

    >>> from datetime import UTC
    >>> struck_at(datetime(2026, 3, 10, 2, 59, tzinfo=UTC), 3).isoformat()
    '2026-03-09T03:00:00+00:00'
    """
    return datetime.combine(day_of(now, hour), time(hour), tzinfo=UTC)


def isolated(
    bench: Bench, lane: str, congregation_id: UUID, do: Callable[[], None]
) -> str:
    """Do one congregation's work; returns what went wrong, empty: nothing did.

    A failure is remembered for the congregation's page, and the others go on: so
    whatever it is, it is caught here.  ``do`` opens its own transactions.
    """
    try:
        do()
    except Exception as error:
        extra = {"lane": lane, "congregation": str(congregation_id)}
        logger.exception("lane.congregation_failed", extra=extra)
        told = words_of(error)
        after = RETRY_SOON if isinstance(error, OperationalError) else RETRY_AFTER
        with bench.begin() as session:
            now = bench.clock()
            mark_failed(session, lane, congregation_id, told, now, after=after)
            note_work(session, lane, [Work(congregation_id, Measure.RETRIED)], now)
        return told
    return ""


def trouble(failed: Sequence[tuple[UUID, str]]) -> str:
    """Return a sweep's ``trouble``: who failed, and why the first one did."""
    if not failed:
        return ""
    congregation_id, error = failed[0]
    others = f", and {len(failed) - 1} more congregations" if len(failed) > 1 else ""
    return f"Congregation {congregation_id}{others} failed: {error}"


def due(
    session: Session, lane: str, *, hour: int, now: datetime, limit: int
) -> Sequence[UUID]:
    """Return congregations for whom the lane's hour has struck, oldest first.

    Two sweeps at once may get the same ones: what a daily lane does can be done twice.
    """
    return session.scalars(
        select(Congregation.id)
        .where(_is_due(lane, hour, now))
        .order_by(Congregation.id)
        .limit(limit)
    ).all()


def backlog(session: Session, lane: str, *, hour: int, now: datetime) -> Backlog:
    """Return for how many congregations the lane's hour has struck, and since when."""
    some = select(Congregation.id).where(_is_due(lane, hour, now)).limit(COUNT_CAP)
    n_due = session.scalar(select(func.count()).select_from(some.subquery())) or 0
    return Backlog(n_due, struck_at(now, hour) if n_due else None)


def mark_done(
    session: Session, lane: str, congregation_id: UUID, *, hour: int, now: datetime
) -> None:
    """Remember that the lane is done with the congregation until its next hour."""
    done = {"done_for": day_of(now, hour), "done_at": now, "error": ""}
    _write(session, lane, congregation_id, done | {"failed_at": None, "retry_at": None})


def mark_failed(
    session: Session,
    lane: str,
    congregation_id: UUID,
    error: str,
    now: datetime,
    *,
    after: timedelta = RETRY_AFTER,
) -> None:
    """Remember a failure; the lane tries again ``after`` it.

    Call it in a transaction of its own: that of the failed work is lost.
    """
    failed = {"failed_at": now, "error": error[:_ERROR_MAX]}
    _write(session, lane, congregation_id, failed | {"retry_at": now + after})


def troubles(session: Session, congregation_id: UUID) -> Sequence[DailyRun]:
    """Return the lanes that failed for the congregation and did not succeed since."""
    return session.scalars(
        select(DailyRun)
        .where(
            DailyRun.congregation_id == congregation_id, DailyRun.failed_at.is_not(None)
        )
        .order_by(DailyRun.lane)
    ).all()


def waiting(session: Session, lane: str, now: datetime) -> frozenset[UUID]:
    """Return the congregations that failed and whose next try is not due yet."""
    return frozenset(
        session.scalars(
            select(DailyRun.congregation_id).where(
                DailyRun.lane == lane, DailyRun.retry_at > now
            )
        )
    )


def _is_due(lane: str, hour: int, now: datetime) -> ColumnElement[bool]:
    """Neither done for the hour that has struck last, nor waiting for its next try."""
    settled = or_(DailyRun.done_for >= day_of(now, hour), DailyRun.retry_at > now)
    return ~exists().where(
        and_(
            DailyRun.congregation_id == Congregation.id, DailyRun.lane == lane, settled
        )
    )


def _write(
    session: Session, lane: str, congregation_id: UUID, values: dict[str, Any]
) -> None:
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    keys = {"congregation_id": congregation_id, "lane": lane}
    statement = insert(DailyRun).values(keys | {"error": ""} | values)
    session.execute(
        statement.on_conflict_do_update(index_elements=list(keys), set_=values)
    )
