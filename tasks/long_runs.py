"""Doing the next long job, and settling it however it ended."""

from __future__ import annotations

import logging
from collections.abc import Callable
from uuid import UUID

from tasks.errors import EngineError
from tasks.lane import Bench
from tasks.long_jobs import Held, J, JobLost, LongJobs, OnEnd, Progress
from tasks.models.long_job import LongJobState

logger = logging.getLogger(__name__)

#: Does one job; its last deed is a transaction that begins with ``Progress.finish``.
Work = Callable[[J, Progress[J]], None]


def run_next(
    bench: Bench, jobs: LongJobs[J], work: Work[J], on_end: OnEnd[J]
) -> tuple[UUID, str] | None:
    """Do the next due job; returns its id and its state's word, or "lost".

    Returns ``None`` when no job is due.
    """
    with bench.begin() as session:
        row = jobs.claim(session, now=bench.clock(), worker=bench.worker)
    if row is None:
        return None
    held = Held(row.id, row.congregation_id, row.attempt, bench.clock)
    try:
        work(row, Progress(bench, jobs, held))
    except Exception as error:  # noqa: BLE001  # whatever it is, the row says so
        return row.id, _settle(bench, jobs, held, error, on_end)
    return row.id, LongJobState.DONE.value


def _settle(
    bench: Bench, jobs: LongJobs[J], held: Held, error: Exception, on_end: OnEnd[J]
) -> str:
    if not isinstance(error, EngineError):
        logger.error("job.broke", exc_info=error, extra={"job": str(held.id)})
    if isinstance(error, JobLost):
        return "lost"
    with bench.begin() as session:
        row = jobs.settle(session, held, error)
        if row is None:
            return "lost"
        if not row.is_open:
            on_end(session, row, bench.clock())
        return row.state.value
