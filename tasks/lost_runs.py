"""Sweeps that an operator asked for, and whose worker vanished in the middle."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_, case, exists, update
from sqlalchemy.orm import Session

from tasks.models.lane import LaneRun, WorkerProcess, WorkerState
from tasks.saying import mark

#: A worker tells several times within it that it lives.
SILENT_AFTER: Final = timedelta(minutes=1)
#: Who is in no list of workers, such as a command, may sweep for so long.
UNKNOWN_AFTER: Final = timedelta(hours=1)
LOST: Final = mark("The worker vanished while it swept. Sweep again if need be.")


def end_lost(session: Session, now: datetime) -> int:
    """End the runs that nobody will end; returns how many.  Caller commits.

    They are told as lost and not begun again: what they found is found by the next
    sweep, and what killed one worker should not get the next.  A worker that only slept
    writes over it.
    """
    is_theirs = WorkerProcess.id == LaneRun.worker
    lives = and_(
        WorkerProcess.heartbeat_at >= now - SILENT_AFTER,
        WorkerProcess.state != WorkerState.STOPPED,
    )
    is_known = exists().where(is_theirs)
    silent = case(
        (is_known, ~exists().where(is_theirs, lives)),
        else_=LaneRun.started_at < now - UNKNOWN_AFTER,
    )
    done = session.execute(
        update(LaneRun)
        .where(LaneRun.ended_at.is_(None), LaneRun.started_at.is_not(None), silent)
        .values(ended_at=now, error=LOST)
        .returning(LaneRun.id)
        .execution_options(synchronize_session=False)
    )
    return len(done.all())
