"""Retention: members who left are forgotten when their months are over.

Fed by time alone: the day on which somebody left, and the months of their
congregation.  Once a day at an hour in UTC, for each congregation by its own calendar;
a day that was missed is made up for at the next start, once.  An operator's "Sweep
now" does not wait for the hour.  Shape: one transaction for each piece of a
congregation; a worker that dies leaves the rest of it due.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import and_, delete, func, or_, select
from sqlalchemy.orm import Session

from tasks import daily
from tasks.congregation.retention.running import Piece, run_piece
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models import Congregation, DailyRun
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work

NAME: Final = "retention"
#: Members of one transaction: on SQLite nobody else writes meanwhile.
PIECE: Final = 500
#: Congregations that one sweep looks at.
_CONGREGATIONS: Final = 50
#: A run that is so late is shown as waiting: the hour is a setting.
_OVERDUE: Final = timedelta(hours=25)


@dataclass(frozen=True, slots=True)
class RetentionSweep:
    """What one sweep did, as ids of members, and of congregations."""

    anonymised: tuple[UUID, ...] = ()
    noticed: tuple[UUID, ...] = ()
    blocked: tuple[UUID, ...] = ()
    released: tuple[UUID, ...] = ()
    not_erased: tuple[UUID, ...] = ()  # members that the database refused to change
    looked_over: tuple[UUID, ...] = ()  # congregations, once a day
    failed: tuple[UUID, ...] = ()  # congregations
    trouble: str = ""
    is_full: bool = False


@dataclass(slots=True)
class _Round:
    """What a sweep has done so far."""

    pieces: list[Piece] = field(default_factory=list)
    looked_over: list[UUID] = field(default_factory=list)
    failed: list[tuple[UUID, str]] = field(default_factory=list)
    left: int = 0  # members that may still be erased


def sweep(bench: Bench, limit: int) -> RetentionSweep:
    """Erase up to ``limit`` members of congregations whose hour has struck."""
    now, hour = bench.clock(), bench.timing.retention_hour
    with bench.begin() as session:
        if bench.asked_at is not None:
            _strike(session, bench.asked_at)
        todo = daily.due(session, NAME, hour=hour, now=now, limit=_CONGREGATIONS)
    done = _Round(left=limit)
    for congregation_id in todo:
        if bench.stopping.is_set() or done.left <= 0:
            break
        _one(bench, done, congregation_id)
    n_settled = len(done.looked_over) + len(done.failed)
    return RetentionSweep(
        anonymised=_all(each.anonymised for each in done.pieces),
        noticed=_all(each.noticed for each in done.pieces),
        blocked=_all(each.blocked for each in done.pieces),
        released=_all(each.released for each in done.pieces),
        not_erased=_all(each.failed for each in done.pieces),
        looked_over=tuple(done.looked_over),
        failed=tuple(id_ for id_, _ in done.failed),
        trouble=daily.trouble(done.failed),
        is_full=n_settled < len(todo) or len(todo) == _CONGREGATIONS,
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many congregations had no run for more than a day, and since when."""
    done_at = func.coalesce(DailyRun.done_at, Congregation.created_at)
    late = (
        select(done_at.label("done_at"))
        .select_from(Congregation)
        .outerjoin(
            DailyRun,
            and_(DailyRun.congregation_id == Congregation.id, DailyRun.lane == NAME),
        )
        .where(done_at < now - _OVERDUE)
        .limit(COUNT_CAP)
        .subquery()
    )
    statement = select(func.count(), func.min(late.c.done_at)).select_from(late)
    n_due, oldest = session.execute(statement).one()
    return Backlog(n_due, oldest + timedelta(days=1) if n_due else None)


def _one(bench: Bench, done: _Round, congregation_id: UUID) -> None:
    """Go on with one congregation, until it is done or the sweep has done enough."""
    now, hour = bench.clock(), bench.timing.retention_hour

    def act() -> None:
        while done.left > 0 and not bench.stopping.is_set():
            with bench.begin() as session:
                some = min(PIECE, done.left)
                piece = run_piece(session, congregation_id, now, some)
                _note(session, bench, congregation_id, piece)
                if piece.is_last:
                    daily.mark_done(session, NAME, congregation_id, hour=hour, now=now)
            done.left -= len(piece.anonymised) + len(piece.failed)
            done.pieces.append(piece)
            if piece.is_last:
                done.looked_over.append(congregation_id)
                return

    if error := daily.isolated(bench, NAME, congregation_id, act):
        done.failed.append((congregation_id, error))


def _note(session: Session, bench: Bench, of: UUID, piece: Piece) -> None:
    """Count the members of a piece, who waited since the hour or since it was asked."""
    now = bench.clock()
    struck = daily.struck_at(now, bench.timing.retention_hour)
    waited = now - max(struck, bench.asked_at or struck)
    work = (
        Work(of, Measure.SUCCEEDED, waited, n=len(piece.anonymised)),
        Work(of, Measure.SKIPPED, waited, n=len(piece.blocked)),
        Work(of, Measure.RETRIED, waited, n=len(piece.failed)),
    )
    note_work(session, NAME, work, now)


def _strike(session: Session, asked_at: datetime) -> None:
    """Let every congregation be due that was not looked over since ``asked_at``."""
    session.execute(
        delete(DailyRun).where(
            DailyRun.lane == NAME,
            or_(DailyRun.done_at < asked_at, DailyRun.failed_at < asked_at),
        )
    )


def _all(several: Iterable[Iterable[UUID]]) -> tuple[UUID, ...]:
    return tuple(id_ for ids in several for id_ in ids)
