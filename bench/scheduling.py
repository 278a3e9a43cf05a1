"""Scheduled jobs by the hundred thousand, all due within one minute: how late are they?

Two worker processes with the lanes ``scheduled_jobs`` and ``executions``; the jobs'
action is the no-op, which writes down when it began.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Engine, func, insert, select
from sqlalchemy.engine import URL

from bench import report, servers
from bench.crew import Crew
from bench.latency import lines_of
from bench.ours import PROCESSES, environment
from bench.product import NOOP
from bench.settings import N_SCHEDULED, say
from bench.world import N_BOOKINGS, World, add_rule, make_world
from tasks.clock import utcnow
from tasks.db import make_engine, sessions
from tasks.models import (
    Execution,
    ExecutionState,
    JobContext,
    JobState,
    OffsetUnit,
    ScheduledJob,
    new_id,
)

#: All jobs come due within this time.
SPAN: Final = timedelta(minutes=1)
_CHUNK: Final = 2_000
#: Jobs put in a second, at least: so long before the first is due.
_FILL_RATE: Final = 1_500
#: How long stragglers are waited for, in seconds.
_PATIENCE: Final = 300.0
_HEAD: Final = ("Database", "From due", "p50", "p99", "longest")


def _add_jobs(engine: Engine, world: World, n: int, first: datetime) -> None:
    with sessions(engine).begin() as session:
        rule = add_rule(
            session,
            world.congregation_id,
            NOOP,
            trigger_type="time.before_recording",
            offset_value=24,
            offset_unit=OffsetUnit.HOURS,
        )
    for start in range(0, n, _CHUNK):
        rows = [
            job_row(world, rule, number, first + SPAN * (number / n))
            for number in range(start, min(n, start + _CHUNK))
        ]
        contexts = [_context(row) for row in rows]
        with sessions(engine).begin() as session:
            session.execute(insert(ScheduledJob), rows)
            session.execute(insert(JobContext), contexts)


def job_row(world: World, rule: UUID, number: int, due_at: datetime) -> dict[str, Any]:
    """Return the columns of a job that is due at that instant."""
    return {
        "id": new_id(),
        "congregation_id": world.congregation_id,
        "rule_id": rule,
        "rule_version": 1,
        "trigger_type": "time.before_recording",
        "podcast_id": "show",
        "booking_id": f"b{number % N_BOOKINGS}",
        "idempotency_key": f"bench:{new_id()}",
        "reference_at": due_at + timedelta(hours=24),
        "timezone": "UTC",
        "due_at": due_at,
        "run_at": due_at,
    }


def _context(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "congregation_id": row["congregation_id"],
        "scheduled_job_id": row["id"],
        "context": {"podcast": {"id": "show"}, "booking": {"id": row["booking_id"]}},
    }


def lateness(url: URL, redis_url: str, n: int) -> list[tuple[str, list[float]]]:
    """Return by what was late how late it was, in seconds, of each job.

    Raises:
        RuntimeError: putting the jobs in took too long, or some were not done in time.
    """
    engine = make_engine(url)
    world = make_world(engine)
    first = utcnow() + timedelta(seconds=12 + n / _FILL_RATE)
    _add_jobs(engine, world, n, first)
    with tempfile.TemporaryDirectory(prefix="carillon-bench-") as name:
        folder = Path(name)
        starts = folder / "starts"
        worker = [sys.executable, "-m", "bench.product", "stopwatch"]
        worker += ["scheduled_jobs,executions", str(starts)]
        environ = environment(url, redis_url, folder)
        if utcnow() > first - timedelta(seconds=10):
            raise RuntimeError("Putting the jobs in took too long; take fewer.")
        with Crew([worker] * PROCESSES, environ, folder / "log") as crew:
            _wait(engine, crew, first)
        began = {UUID(id_): float(at) for id_, _, at in lines_of(starts)}
    found = _found(engine, began)
    engine.dispose()
    return found


def _wait(engine: Engine, crew: Crew, first: datetime) -> None:
    deadline = first + SPAN + timedelta(seconds=_PATIENCE)
    while left := _left(engine):
        crew.check()
        if utcnow() > deadline:
            raise RuntimeError(f"{left} jobs were not done in time")
        time.sleep(1.0)


def _left(engine: Engine) -> int:
    """Return how many jobs and executions wait or run."""
    with sessions(engine)() as session:
        counts = (
            session.scalar(select(func.count()).where(condition)) or 0
            for condition in (
                ScheduledJob.state == JobState.PENDING,
                Execution.state == ExecutionState.PENDING,
                Execution.state == ExecutionState.RUNNING,
            )
        )
        return sum(counts)


def _found(engine: Engine, began: dict[UUID, float]) -> list[tuple[str, list[float]]]:
    columns = (ScheduledJob.due_at, ScheduledJob.settled_at, ScheduledJob.execution_id)
    with sessions(engine)() as session:
        rows: Sequence[Any] = session.execute(select(*columns)).all()
    missing = sum(row.execution_id not in began for row in rows)
    if missing:
        raise RuntimeError(f"{missing} of {len(rows)} actions did not begin")
    swept = [(row.settled_at - row.due_at).total_seconds() for row in rows]
    acted = [began[row.execution_id] - row.due_at.timestamp() for row in rows]
    return [("to the sweep that dispatched it", swept), ("to its action", acted)]


def measure() -> str:
    """Return the table of both databases."""
    lines = []
    for database in ("PostgreSQL", "SQLite"):
        with ExitStack() as stack:
            url = servers.empty(stack, database)
            redis_url = stack.enter_context(servers.redis_server())
            for what, late in lateness(url, redis_url, N_SCHEDULED):
                cells = (f"{seconds:.2f} s" for seconds in report.quantiles(late))
                lines.append((database, what, *cells))
                say("  " + " ".join(lines[-1]))
    told = f"{N_SCHEDULED:,} scheduled jobs, all due within one minute.\n\n"
    return told + report.table(_HEAD, lines)
