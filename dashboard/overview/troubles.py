"""What is wrong besides executions: lanes, daily work, who has to stay, campaigns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from dashboard.lanes.queries import last_runs
from tasks import registry
from tasks.lane import Lane
from tasks.models import (
    Campaign,
    DailyRun,
    LaneSetting,
    RetentionBlock,
    WorkerProcess,
)

#: A campaign that nobody was there for asks for somebody this long.
MISSED_FOR: Final = timedelta(days=7)
#: Lanes without a worker that are named one by one.
NAMED_MAX: Final = 3
#: Counting stops here.
COUNT_MAX: Final = 1_000
Kind = Literal["no_worker", "failing", "daily", "blocked", "missed"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong."""

    kind: Kind
    n: int = 0  # rows that it is about
    lane: Lane | None = None
    at: datetime | None = None  # since when, or when last
    said: str = ""  # the error
    only: UUID | None = None  # the one campaign that it is about


def troubles(
    session: Session,
    workers: Sequence[WorkerProcess],
    paused: Sequence[LaneSetting],
    *,
    now: datetime,
    since: datetime,
) -> list[Trouble]:
    """Return what is wrong; four queries.

    Args:
        workers: the processes that are alive.
        since: what failed before is not told any more.
    """
    found = [*_lanes(session, workers, {row.lane for row in paused}, since)]
    found += _daily(session)
    blocked = _count(session, select(RetentionBlock.member_id))
    if blocked:
        found.append(Trouble("blocked", blocked, registry.lane("retention")))
    missed = session.execute(
        select(Campaign.id, Campaign.missed_at)
        .where(Campaign.missed_at >= now - MISSED_FOR)
        .order_by(Campaign.missed_at.desc())
        .limit(COUNT_MAX)
    ).all()
    if missed:
        only = missed[0].id if len(missed) == 1 else None
        found.append(Trouble("missed", len(missed), at=missed[0].missed_at, only=only))
    return found


def _lanes(
    session: Session,
    workers: Sequence[WorkerProcess],
    paused: set[str],
    since: datetime,
) -> Iterator[Trouble]:
    """Yield lanes on which nobody works, and those whose last run failed."""
    served = paused | {name for worker in workers for name in worker.lanes}
    idle = [lane for lane in registry.LANES if lane.name not in served]
    if workers and len(idle) > NAMED_MAX:
        yield Trouble("no_worker", len(idle))
    elif workers:  # without any worker, the page says so once
        yield from (Trouble("no_worker", 1, lane) for lane in idle)
    runs = last_runs(session, [lane.name for lane in registry.LANES])
    for lane in registry.LANES:
        run = runs.get(lane.name)
        if run is not None and run.error and (run.started_at or since) > since:
            yield Trouble("failing", lane=lane, at=run.started_at, said=run.error)


def _daily(session: Session) -> Iterator[Trouble]:
    """Yield daily lanes that failed for congregations."""
    rows = session.execute(
        select(DailyRun.lane, func.count(), func.max(DailyRun.failed_at))
        .where(DailyRun.failed_at.is_not(None))
        .group_by(DailyRun.lane)
    )
    known = {lane.name: lane for lane in registry.LANES}
    for name, n, at in rows:
        if name in known:
            yield Trouble("daily", n, known[name], at)


def _count(session: Session, rows: Select[UUID]) -> int:
    some = rows.limit(COUNT_MAX).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0
