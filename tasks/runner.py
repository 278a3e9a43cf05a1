"""Running one lane once: the pause switch, the sweep, and the row that tells of it."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from tasks.db import glancing
from tasks.errors import words_of
from tasks.lane import Bench, Lane, tally
from tasks.models.lane import LaneRun, LaneSetting, LaneTrigger
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work

logger = logging.getLogger(__name__)

#: A lane with a full backlog is swept again at once for this long, then it reports.
DRAIN_SECONDS: Final = 5.0
_ERROR_MAX: Final = 2_000
_BROKEN: Final = Work(None, Measure.RETRIED)
#: Somebody wants a sweep now, and waits for no hour of the day.
ASKED: Final = frozenset({LaneTrigger.OPERATOR, LaneTrigger.RULE, LaneTrigger.CRON})


@dataclass(slots=True)
class Ran:
    """What running a lane once did."""

    started_at: datetime
    moved: Counter[str] = field(default_factory=Counter)
    is_full: bool = False  # more is due at once
    error: str | None = None
    has_broken: bool = False  # the last sweep did: all that it did was undone


def run_lane(lane: Lane, bench: Bench, trigger: LaneTrigger) -> Ran | None:
    """Sweep ``lane`` until it is empty or ``DRAIN_SECONDS`` are over.

    Leaves a ``LaneRun`` row when something moved, failed, or was asked for by an
    operator.  Returns ``None`` when the lane is paused.  This is the one place that
    catches everything: a lane's error is recorded, and the next sweep tries again.
    """
    try:
        is_paused, is_asked = _standing(bench, lane.name)
        if is_paused:
            return None
        asked = _take_asked(bench, lane.name) if is_asked else ()
    except Exception:
        logger.exception("lane.unreachable", extra={"lane": lane.name})
        return None
    if asked or trigger in ASKED:
        bench = replace(bench, asked_at=bench.clock())
    ran = _sweep(lane, bench)
    try:
        if asked or ran.error or ran.moved.total():
            _record(lane, bench, trigger, ran, asked)
    except Exception:
        logger.exception("lane.not_recorded", extra={"lane": lane.name})
    return ran


def _sweep(lane: Lane, bench: Bench) -> Ran:
    ran = Ran(started_at=bench.clock())
    began = time.monotonic()
    deadline = began + DRAIN_SECONDS
    try:
        while True:
            began = time.monotonic()
            swept = lane.sweep(bench, lane.batch)
            moved = tally(swept)
            ran.moved.update(moved)
            bench.meters.swept(lane.name, moved, time.monotonic() - began)
            # Most sweeps have none: what fails for one congregation and goes on.
            ran.error = getattr(swept, "trouble", "")[:_ERROR_MAX] or ran.error
            ran.is_full = swept.is_full
            if (
                not ran.is_full
                or time.monotonic() > deadline
                or bench.stopping.is_set()
            ):
                break
    except Exception as error:
        logger.exception("lane.failed", extra={"lane": lane.name})
        ran.error = words_of(error)[:_ERROR_MAX]
        ran.has_broken = True
        n_attempted = getattr(error, "n_attempted", None)  # some errors say so
        bench.meters.failed(lane.name, time.monotonic() - began, n_attempted)
    if ran.moved.total():
        logger.info("lane.swept", extra={"lane": lane.name, "moved": dict(ran.moved)})
    return ran


_STANDING: Final = select(
    select(LaneSetting.is_paused)
    .where(LaneSetting.lane == bindparam("lane"))
    .scalar_subquery(),
    select(LaneRun.id)
    .where(LaneRun.lane == bindparam("lane"), LaneRun.started_at.is_(None))
    .exists(),
)


def _standing(bench: Bench, lane: str) -> tuple[bool, bool]:
    """Return whether the lane is paused, and whether an operator asked for a sweep."""
    with bench.begin() as session:
        glancing(session)
        is_paused, is_asked = session.execute(_STANDING, {"lane": lane}).one()
    return bool(is_paused), bool(is_asked)


def _take_asked(bench: Bench, lane: str) -> Sequence[UUID]:
    """Take over the sweeps that operators asked for; a lost doorbell loses none."""
    with bench.begin() as session:
        return session.scalars(
            update(LaneRun)
            .where(LaneRun.lane == lane, LaneRun.started_at.is_(None))
            .values(started_at=bench.clock(), worker=bench.worker)
            .returning(LaneRun.id)
            .execution_options(synchronize_session=False)
        ).all()


def _record(
    lane: Lane, bench: Bench, trigger: LaneTrigger, ran: Ran, asked: Sequence[UUID]
) -> None:
    with bench.begin() as session:
        if ran.has_broken:  # the next one tries again
            note_work(session, lane.name, [_BROKEN], bench.clock())
        for run in _rows(session, lane, bench, trigger, ran, asked):
            run.ended_at = bench.clock()
            run.moved = dict(ran.moved)
            run.n_moved = ran.moved.total()
            run.error = ran.error


def _rows(
    session: Session,
    lane: Lane,
    bench: Bench,
    trigger: LaneTrigger,
    ran: Ran,
    asked: Sequence[UUID],
) -> Sequence[LaneRun]:
    if asked:
        return session.scalars(select(LaneRun).where(LaneRun.id.in_(asked))).all()
    run = LaneRun(
        lane=lane.name,
        trigger=trigger,
        requested_at=ran.started_at,
        started_at=ran.started_at,
        worker=bench.worker,
    )
    session.add(run)
    return [run]
