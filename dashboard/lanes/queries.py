"""What the lanes' pages read: the registry beside what the database remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.config import Config
from tasks.lane import Backlog, Lane
from tasks.models import (
    LaneHeartbeat,
    LaneRun,
    LaneSetting,
    WorkerProcess,
    WorkerState,
)

#: A worker that was silent for so long counts as gone.
SILENT_AFTER: Final = timedelta(seconds=60)
#: Runs on one page of a lane.
RUNS_PER_PAGE: Final = 50
RUN_KEYS: Final[tuple[Key, ...]] = (LaneRun.requested_at.desc(), LaneRun.id.desc())


class LaneState(StrEnum):
    """How a lane stands, as its pill says."""

    RUNNING = "running"
    PAUSED = "paused"
    NO_WORKER = "no_worker"


@dataclass(frozen=True, slots=True)
class LaneView:
    """One lane with everything that its row and its page show."""

    lane: Lane
    every: timedelta  # the cadence, as the installation's settings have it
    setting: LaneSetting | None  # None: nobody changed anything
    processes: Sequence[WorkerProcess]  # alive, and working on this lane
    swept_at: datetime | None  # the newest heartbeat, of whichever worker
    last_run: LaneRun | None  # the newest that began
    asked: LaneRun | None  # asked for by an operator, not begun
    backlog: Backlog
    now: datetime

    @property
    def state(self) -> LaneState:
        """What the pill says; a pause outweighs that nobody would work anyway."""
        if self.setting is not None and self.setting.is_paused:
            return LaneState.PAUSED
        return LaneState.RUNNING if self.processes else LaneState.NO_WORKER

    @property
    def workers(self) -> int:
        """How many sweeps one worker process runs at once."""
        chosen = self.setting.workers if self.setting is not None else None
        return self.lane.workers if chosen is None else chosen

    @property
    def next_run_at(self) -> datetime | None:
        """When the clock starts the next sweep; None while nothing would sweep."""
        if self.state is not LaneState.RUNNING:
            return None
        if self.swept_at is None:
            return self.now
        return max(self.now, self.swept_at + self.every)


def lane_views(
    session: Session, lanes: Sequence[Lane], config: Config, *, now: datetime
) -> list[LaneView]:
    """Return the lanes in the given order; five queries and one backlog each."""
    names = [lane.name for lane in lanes]
    settings = {
        row.lane: row
        for row in session.scalars(
            select(LaneSetting).where(LaneSetting.lane.in_(names))
        )
    }
    alive = alive_workers(session, now=now)
    swept = _swept(session, names)
    last, asked = last_runs(session, names), _asked_runs(session, names)
    return [
        LaneView(
            lane=lane,
            every=cadence(lane, config),
            setting=settings.get(lane.name),
            processes=[worker for worker in alive if lane.name in worker.lanes],
            swept_at=swept.get(lane.name),
            last_run=last.get(lane.name),
            asked=asked.get(lane.name),
            backlog=lane.backlog(session, now),
            now=now,
        )
        for lane in lanes
    ]


def cadence(lane: Lane, config: Config) -> timedelta:
    """Return the time between two sweeps of the lane when no doorbell rings."""
    if lane.every_setting is None:
        return lane.every
    every: timedelta = getattr(config, lane.every_setting)
    return every


def alive_workers(session: Session, *, now: datetime) -> Sequence[WorkerProcess]:
    """Return the worker processes that were heard of within ``SILENT_AFTER``."""
    return session.scalars(
        select(WorkerProcess)
        .where(
            WorkerProcess.state == WorkerState.RUNNING,
            WorkerProcess.heartbeat_at >= now - SILENT_AFTER,
        )
        .order_by(WorkerProcess.started_at, WorkerProcess.id)
    ).all()


def heartbeats(session: Session, name: str) -> Mapping[str, LaneHeartbeat]:
    """Return the lane's heartbeat of each worker, by the worker's id."""
    rows = session.scalars(select(LaneHeartbeat).where(LaneHeartbeat.lane == name))
    return {row.worker: row for row in rows}


def runs(session: Session, name: str, cursor: str | None) -> Page[LaneRun]:
    """Return a page of the lane's runs, newest first."""
    return found_runs(session, [LaneRun.lane == name], cursor)


def found_runs(
    session: Session, wanted: Sequence[ColumnElement[bool]], cursor: str | None
) -> Page[LaneRun]:
    """Return a page of the runs for which all of ``wanted`` holds, newest first."""
    statement = select(LaneRun).where(*wanted)
    return paginate(session, statement, RUN_KEYS, cursor, RUNS_PER_PAGE)


def _swept(session: Session, names: Sequence[str]) -> Mapping[str, datetime]:
    newest: dict[str, datetime] = {}
    beats = session.execute(
        select(LaneHeartbeat.lane, LaneHeartbeat.swept_at).where(
            LaneHeartbeat.lane.in_(names)
        )
    )
    for lane, swept_at in beats:
        newest[lane] = max(swept_at, newest.get(lane, swept_at))
    return newest


def last_runs(session: Session, names: Sequence[str]) -> Mapping[str, LaneRun]:
    """Return the newest run that has begun of each lane; one query."""
    found = session.scalars(_newest_runs(tuple(names)))
    return {run.lane: run for run in found}


@lru_cache  # for all lanes, or for one; making it takes longer than running it
def _newest_runs(names: tuple[str, ...]) -> Select[LaneRun]:
    # One look into the index a lane; a grouped maximum would read every run.
    newest = [
        select(LaneRun.id)
        .where(LaneRun.lane == name, LaneRun.started_at.is_not(None))
        .order_by(LaneRun.requested_at.desc(), LaneRun.id.desc())
        .limit(1)
        .scalar_subquery()
        for name in names
    ]
    return select(LaneRun).where(or_(*(LaneRun.id == each for each in newest)))


def _asked_runs(session: Session, names: Sequence[str]) -> Mapping[str, LaneRun]:
    found = session.scalars(
        select(LaneRun)
        .where(LaneRun.lane.in_(names), LaneRun.started_at.is_(None))
        .order_by(LaneRun.requested_at.desc())
        .limit(len(names) * 10)
    )
    return {run.lane: run for run in found}  # the one that waits longest stays
