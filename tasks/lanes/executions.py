"""Executions: run what is due, and try again what failed.

Fed by events (``tasks.automation.events``) and by the lane ``scheduled_jobs``.  Shape:
claim · act · settle.  When the worker dies, ``rescue`` takes the rows back; when it
stops, it gives back what it had not begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.claims import backlog_of
from tasks.crashpoints import reached
from tasks.executing.claiming import claim
from tasks.executing.preparing import prepare
from tasks.executing.running import AT_ONCE, run
from tasks.lane import Backlog, Bench
from tasks.models.execution import Execution


@dataclass(frozen=True, slots=True)
class ExecutionSweep:
    """What one sweep did, as execution ids."""

    succeeded: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    skipped: tuple[UUID, ...] = ()
    deferred: tuple[UUID, ...] = ()  # above their rule's rate limit: wait their turn
    released: tuple[UUID, ...] = ()  # given back, not begun: the worker stops
    slow: tuple[UUID, ...] = ()  # still under way: a thread of their own sees them out
    lost: tuple[UUID, ...] = ()  # somebody else owns them now
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ExecutionSweep:
    """Run up to ``limit`` due executions, oldest first, fairly between tenants."""
    batch = bench.pace.batch(limit=limit, at_once=AT_ONCE)
    with bench.begin() as session:
        running = claim(session, bench, limit=batch)
        quick = [row for row in running if row.is_quick]
        prepared = prepare(session, quick, now=bench.clock()) if quick else []
    if not running:
        return ExecutionSweep()
    reached("after_claim")
    ended = run(bench, running, prepared)
    return ExecutionSweep(
        **{word: tuple(ids) for word, ids in ended.items()},
        is_full=len(running) >= batch,
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many executions are due."""
    return backlog_of(session, Execution, now)
