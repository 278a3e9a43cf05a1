"""Expirations: tell the board's validators which documents end soon.

Fed by time alone, once a day for each congregation; a day that was missed is made up
for at the next sweep, once.  Shape: one transaction for each congregation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks import daily
from tasks.congregation.documents.expiring import n_overlooked, tell_expiring
from tasks.lane import Backlog, Bench
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work

NAME: Final = "expirations"
#: Of UTC: early enough for a morning in Europe.
HOUR: Final = 6
#: Congregations that one sweep looks at.
_CONGREGATIONS: Final = 200


@dataclass(frozen=True, slots=True)
class ExpirationsSweep:
    """What one sweep did, as ids of documents, and of congregations."""

    told: tuple[UUID, ...] = ()
    looked_over: tuple[UUID, ...] = ()  # congregations, once a day
    failed: tuple[UUID, ...] = ()  # congregations
    trouble: str = ""
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ExpirationsSweep:
    """Tell of up to ``limit`` documents of each congregation whose hour has struck."""
    with bench.begin() as session:
        todo = daily.due(
            session, NAME, hour=HOUR, now=bench.clock(), limit=_CONGREGATIONS
        )
    told: list[UUID] = []
    done: list[UUID] = []
    failed: list[tuple[UUID, str]] = []
    for congregation_id in todo:
        if bench.stopping.is_set():
            break
        act = partial(_one, bench, congregation_id, limit, told)
        if error := daily.isolated(bench, NAME, congregation_id, act):
            failed.append((congregation_id, error))
        else:
            done.append(congregation_id)
    return ExpirationsSweep(
        told=tuple(told),
        looked_over=tuple(done),
        failed=tuple(id_ for id_, _ in failed),
        trouble=daily.trouble(failed),
        is_full=len(todo) == _CONGREGATIONS,
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return of how many documents it should have been told, and since when."""
    n_due = n_overlooked(session, now)
    return Backlog(n_due, daily.struck_at(now, HOUR) if n_due else None)


def _one(bench: Bench, congregation_id: UUID, limit: int, told: list[UUID]) -> None:
    """Tell one congregation, piece by piece; the day is done with the last one."""
    while True:
        now = bench.clock()
        with bench.begin() as session:
            ids = tell_expiring(session, congregation_id, now, limit)
            waited = now - daily.struck_at(now, HOUR)
            work = Work(congregation_id, Measure.SUCCEEDED, waited, n=len(ids))
            note_work(session, NAME, [work], now)
            if len(ids) < limit:
                daily.mark_done(session, NAME, congregation_id, hour=HOUR, now=now)
        told += ids
        if len(ids) < limit:
            return
