"""Janitor: remove what is past its keeping time.

Fed by time alone.  Shape: one transaction per sweep, at most ``limit`` rows of each
kind, so that no lock is held for long; a full batch sweeps again at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.lane import Backlog, Bench
from tasks.models.access import IdempotencyRecord
from tasks.models.event import Decision, Event
from tasks.models.execution import SETTLED, Execution
from tasks.models.lane import LaneRun, WorkerProcess
from tasks.models.scheduled_job import JobState, ScheduledJob

#: Answers to repeated API requests are kept this long.
KEEP_ANSWERS: Final = timedelta(hours=48)
#: Worker processes that fell silent are shown this long.
KEEP_WORKERS: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class JanitorSweep:
    """What one sweep removed, as ids."""

    executions: tuple[UUID, ...] = ()
    scheduled_jobs: tuple[UUID, ...] = ()
    decisions: tuple[UUID, ...] = ()
    events: tuple[UUID, ...] = ()
    lane_runs: tuple[UUID, ...] = ()
    answers: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> JanitorSweep:
    """Remove up to ``limit`` rows of each kind, oldest first."""
    now = bench.clock()
    settled_before = now - bench.timing.keep_settled
    with bench.begin() as session:
        removed: dict[str, tuple[Any, ...]] = {
            "executions": _remove(
                session,
                Execution.id,
                limit,
                Execution.state.in_(SETTLED),
                Execution.created_at < settled_before,
                Execution.settled_at < settled_before,
            ),
            "scheduled_jobs": _remove(
                session,
                ScheduledJob.id,
                limit,
                ScheduledJob.state != JobState.PENDING,
                ScheduledJob.settled_at < settled_before,
                ScheduledJob.due_at < settled_before,
            ),
            "decisions": _remove(
                session, Decision.id, limit, Decision.created_at < settled_before
            ),
            "events": _remove(
                session,
                Event.id,
                limit,
                Event.created_at < settled_before,
                ~select(Execution.id).where(Execution.event_id == Event.id).exists(),
            ),
            "lane_runs": _remove(
                session,
                LaneRun.id,
                limit,
                LaneRun.requested_at < now - bench.timing.keep_runs,
            ),
            "answers": _remove(
                session,
                IdempotencyRecord.key,
                limit,
                IdempotencyRecord.created_at < now - KEEP_ANSWERS,
            ),
            "workers": _remove(
                session,
                WorkerProcess.id,
                limit,
                WorkerProcess.heartbeat_at < now - KEEP_WORKERS,
            ),
        }
    return JanitorSweep(
        **removed, is_full=any(len(ids) == limit for ids in removed.values())
    )


def backlog(_session: Session, _now: datetime) -> Backlog:
    """Return an empty backlog: what is past its time waits for no one."""
    return Backlog(n_due=0, oldest_due_at=None)


def _remove(
    session: Session,
    key: InstrumentedAttribute[Any],
    limit: int,
    *past: ColumnElement[bool],
) -> tuple[Any, ...]:
    ids: Sequence[Any] = session.scalars(select(key).where(*past).limit(limit)).all()
    if ids:
        for start in range(0, len(ids), 500):  # below both databases' parameter limits
            session.execute(
                delete(key.class_)
                .where(key.in_(ids[start : start + 500]), *past)
                .execution_options(synchronize_session=False)
            )
    return tuple(ids)
