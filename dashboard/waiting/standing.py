"""How lanes stand, read once for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dashboard.lanes.queries import alive_workers, cadence
from dashboard.waiting.reasons import Standing
from tasks import registry
from tasks.config import Config
from tasks.holds.looking import Active, active
from tasks.models import LaneHeartbeat, LaneRun, LaneSetting, WorkerProcess

#: Runs from which the speed of a lane is reckoned, and how old they may be.
_RUNS: Final = 20
_LATELY: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Standings:
    """What the lanes' settings, workers and holds say now."""

    settings: Mapping[str, LaneSetting]
    workers: Sequence[WorkerProcess]
    swept: Mapping[str, datetime]
    holds: Sequence[Active]
    config: Config
    #: What ``of`` has found: every row of a list asks for the same lane.
    known: dict[str, Standing] = field(default_factory=dict)

    def of(self, name: str) -> Standing:
        """Return how one lane stands."""
        if name not in self.known:
            self.known[name] = self._found(name)
        return self.known[name]

    def _found(self, name: str) -> Standing:
        lane = registry.lane(name)
        setting = self.settings.get(name)
        is_paused = setting is not None and setting.is_paused
        return Standing(
            title=lane.title,
            every=cadence(lane, self.config),
            batch=lane.batch,
            paused_by=setting.paused_by if setting and is_paused else None,
            paused_at=(setting.paused_at or setting.updated_at)
            if setting and is_paused
            else None,
            has_any_worker=bool(self.workers),
            has_worker=any(name in worker.lanes for worker in self.workers),
            n_workers=sum(worker.lanes.get(name, 0) for worker in self.workers),
            swept_at=self.swept.get(name),
        )


#: Made once: each page with a waiting row asks for them.
_SETTINGS: Final = select(LaneSetting)
_SWEPT: Final = select(LaneHeartbeat.lane, func.max(LaneHeartbeat.swept_at)).group_by(
    LaneHeartbeat.lane
)


def standings(session: Session, config: Config, now: datetime) -> Standings:
    """Return how the lanes stand; four queries."""
    return Standings(
        settings={row.lane: row for row in session.scalars(_SETTINGS)},
        workers=alive_workers(session, now=now),
        swept={row[0]: row[1] for row in session.execute(_SWEPT)},
        holds=active(session, now),
        config=config,
    )


def speed(session: Session, name: str, now: datetime) -> float | None:
    """Return how many rows a second the lane moved lately; None: nobody knows."""
    runs = session.execute(
        select(LaneRun.n_moved, LaneRun.started_at, LaneRun.ended_at)
        .where(
            LaneRun.lane == name,
            LaneRun.requested_at >= now - _LATELY,
            LaneRun.ended_at.is_not(None),
        )
        .order_by(LaneRun.requested_at.desc(), LaneRun.id.desc())
        .limit(_RUNS)
    ).all()
    begun = [run.started_at for run in runs if run.started_at]
    if not begun:
        return None
    span = (max(run.ended_at for run in runs) - min(begun)).total_seconds()
    n = sum(run.n_moved for run in runs)
    return n / span if n and span > 0 else None
