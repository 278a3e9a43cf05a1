"""Rollups: what has ended is counted by hour and by day, for charts and budgets.

Fed by every transaction that ends attempts or scheduled jobs (``note_ended``), or does
the work of a lane that keeps no attempts (``note_work``).  Shape: one transaction that
adds to the counts and removes what it has counted, so a worker that dies loses nothing
and counts nothing twice.  No table is read to its end: what is counted is found by its
key.

Afterwards it looks at what warns by mail: lateness budgets, and saved views.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.executing.apart import apart
from tasks.executing.recording import AWAY
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models.base import born_at
from tasks.models.rollup import Ended, EndedKind, Measure
from tasks.rollups.adding import add
from tasks.rollups.counting import Place, count
from tasks.rollups.ended import Key, unpacked
from tasks.rollups.warning import look_at_budgets
from tasks.rollups.work import Work, noted_work, placed
from tasks.saying import mark
from tasks.views.warning import look_at_views

logger = logging.getLogger(__name__)

NAME: Final = "rollups"
_LEFT_OUT: Final = mark(
    "What makes the program fail is not in the charts, see its log."
)


class _Note(NamedTuple):
    """What one transaction has ended."""

    id: UUID
    kind: EndedKind
    keys: bytes  # packed


#: What a note was about; of the work of lanes nothing is named.
_Counted = tuple[EndedKind, list[Key]]


@dataclass(frozen=True, slots=True)
class RollupsSweep:
    """What one sweep counted, as ids of executions, deliveries and jobs."""

    executions: tuple[UUID, ...] = ()  # attempts at them
    deliveries: tuple[UUID, ...] = ()  # attempts at them
    jobs: tuple[UUID, ...] = ()
    trouble: str = ""  # what could not be counted
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> RollupsSweep:
    """Count what up to ``limit`` transactions have ended, oldest first."""
    try:
        with bench.begin() as session:
            noted = _noted(session, limit)
            keys = _count(session, bench, noted)
    except AWAY:
        raise
    except Exception:  # one note that cannot be counted must not keep the others
        logger.exception("rollups.apart")
        with bench.begin() as session:
            noted = _noted(session, limit)
            keys = _count_apart(session, bench, noted)
    if len(noted) < limit:  # else there is more to count first
        with bench.begin() as session:
            look_at_budgets(session, bench.clock())
        look_at_views(bench)
    told: defaultdict[EndedKind, list[UUID]] = defaultdict(list)
    for kind, some in (each for each in keys if each is not None):
        told[kind] += (id_ for id_, _ in some)
    return RollupsSweep(
        executions=tuple(told[EndedKind.EXECUTION]),
        deliveries=tuple(told[EndedKind.DELIVERY]),
        jobs=tuple(told[EndedKind.JOB]),
        trouble=_LEFT_OUT if None in keys else "",
        is_full=len(noted) == limit,
    )


def _noted(session: Session, limit: int) -> Sequence[_Note]:
    """Lock and return what is to be counted."""
    rows = session.execute(
        select(Ended.id, Ended.kind, Ended.keys)
        .order_by(Ended.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return [_Note(*row) for row in rows]


def _count(
    session: Session, bench: Bench, noted: Sequence[_Note]
) -> list[_Counted | None]:
    """Count notes and remove them; returns what each was about."""
    keys: defaultdict[EndedKind, list[Key]] = defaultdict(list)
    told: list[_Counted | None] = []
    counted: Counter[Place] = Counter()
    for note in noted:
        own = [] if note.kind is EndedKind.WORK else list(unpacked(note.keys))
        if note.kind is EndedKind.WORK:
            counted += noted_work(note.keys)
        keys[note.kind] += own
        told.append((note.kind, own))
    for kind, some in keys.items():
        if some:
            counted += count(session, kind, some)
    counted += _own(bench, [note.id for note in noted])
    add(session, counted)
    _remove(session, [note.id for note in noted])
    return told


def _count_apart(
    session: Session, bench: Bench, noted: Sequence[_Note]
) -> list[_Counted | None]:
    """Do the same in savepoints; what cannot be counted is left out of the charts."""

    def step(some: Sequence[_Note]) -> list[_Counted | None]:
        with session.begin_nested():
            return _count(session, bench, some)

    def broken(note: _Note, error: Exception) -> None:
        told = {"id": str(note.id), "kind": str(note.kind), "keys": note.keys.hex()}
        logger.error("rollups.left_out", exc_info=error, extra=told)
        _remove(session, [note.id])

    return apart(step, noted, broken, of_all=AWAY)


def _remove(session: Session, ids: Sequence[UUID]) -> None:
    if ids:
        session.execute(
            delete(Ended)
            .where(among(session, Ended.id, ids))
            .execution_options(synchronize_session=False)
        )


def _own(bench: Bench, ids: Sequence[UUID]) -> Counter[Place]:
    """Return the lane's own work: how many it counts, and how long they waited.

    Added at once: noted as others note theirs, it would never come to an end.
    """
    now = bench.clock()
    work = [Work(None, Measure.SUCCEEDED, now - born_at(id_)) for id_ in ids]
    return placed(NAME, work, now)


def backlog(session: Session, _now: datetime) -> Backlog:
    """Return how many transactions are yet to be counted; nobody waits for them."""
    some = select(Ended.id).limit(COUNT_CAP).subquery()
    n_due = session.scalar(select(func.count()).select_from(some)) or 0
    return Backlog(n_due=n_due, oldest_due_at=None)
