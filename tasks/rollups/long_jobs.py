"""What attempts at long jobs come to, as it is counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from tasks.models.long_job import LongJob, LongJobState
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work

_OUTCOMES: Final = {
    LongJobState.DONE: Measure.SUCCEEDED,
    LongJobState.FAILED: Measure.FAILED,
    LongJobState.CANCELLED: Measure.SKIPPED,
    LongJobState.QUEUED: Measure.RETRIED,
}


@contextmanager
def counted(
    session: Session, lane: str, row: LongJob, now: datetime
) -> Iterator[datetime]:
    """Note what becomes of a job within the block, which ends an attempt; give ``now``.

    One that is only given back has come to nothing.  Caller commits.
    """
    wait = run = None
    if row.started_at is not None:
        wait = row.started_at - row.run_at if row.attempt == 1 else None
        run = now - row.started_at
    failures = row.failures
    yield now
    if row.state is LongJobState.QUEUED and row.failures == failures:
        return
    work = Work(row.congregation_id, _OUTCOMES[row.state], wait, run)
    note_work(session, lane, [work], now)
