"""Rollups: what has ended is counted by hour and by day, for charts and budgets.

Fed by every transaction that ends attempts or scheduled jobs (``note_ended``), or does
the work of a lane that keeps no attempts (``note_work``).  Shape: one transaction that
adds to the counts and removes what it has counted, so a worker that dies loses nothing
and counts nothing twice.  No table is read to its end: what is counted is found by its
key.

Afterwards it looks at what warns by mail: lateness budgets, and saved views.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models.base import born_at
from tasks.models.rollup import Ended, EndedKind, Measure
from tasks.rollups.adding import add
from tasks.rollups.counting import Place, count
from tasks.rollups.ended import Key, unpacked
from tasks.rollups.warning import look_at_budgets
from tasks.rollups.work import Work, noted_work, placed
from tasks.views.warning import look_at_views

NAME: Final = "rollups"


@dataclass(frozen=True, slots=True)
class RollupsSweep:
    """What one sweep counted, as ids of executions, deliveries and jobs."""

    executions: tuple[UUID, ...] = ()  # attempts at them
    deliveries: tuple[UUID, ...] = ()  # attempts at them
    jobs: tuple[UUID, ...] = ()
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> RollupsSweep:
    """Count what up to ``limit`` transactions have ended, oldest first."""
    keys: defaultdict[EndedKind, list[Key]] = defaultdict(list)
    with bench.begin() as session:
        rows = session.execute(
            select(Ended.id, Ended.kind, Ended.keys)
            .order_by(Ended.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        ).all()
        counted: Counter[Place] = Counter()
        for _, kind, packed in rows:
            if kind is EndedKind.WORK:
                counted += noted_work(packed)
            else:
                keys[kind].extend(unpacked(packed))
        for kind, some in keys.items():
            counted += count(session, kind, some)
        counted += _own(bench, [row.id for row in rows])
        add(session, counted)
        if rows:
            session.execute(
                delete(Ended)
                .where(among(session, Ended.id, [row.id for row in rows]))
                .execution_options(synchronize_session=False)
            )
    if len(rows) < limit:  # else there is more to count first
        with bench.begin() as session:
            look_at_budgets(session, bench.clock())
        look_at_views(bench)
    return RollupsSweep(
        executions=tuple(id_ for id_, _ in keys[EndedKind.EXECUTION]),
        deliveries=tuple(id_ for id_, _ in keys[EndedKind.DELIVERY]),
        jobs=tuple(id_ for id_, _ in keys[EndedKind.JOB]),
        is_full=len(rows) == limit,
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
