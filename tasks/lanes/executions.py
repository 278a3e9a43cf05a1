"""Executions: run what is due, and try again what failed.

Fed by events (``tasks.automation.events``) and by the lane ``scheduled_jobs``.  Shape:
claim · act · settle, or one transaction where all effects are rows of ours.  When the
worker dies, ``rescue`` takes the rows back; when it stops, it gives back what it had
not begun.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.claims import backlog_of
from tasks.crashpoints import reached
from tasks.executing.claiming import Running, lease, take
from tasks.executing.marking import keep_messages, note_recipients
from tasks.executing.preparing import Ready, leaving_of, look, readdressed
from tasks.executing.recording import word_of
from tasks.executing.running import AT_ONCE, run
from tasks.executing.verdicts import Verdict
from tasks.executing.within import do_within
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
        taken = take(session, bench, limit=batch)
        outward = [row for row in taken if not row.is_within]
        leaving = outward[: bench.pace.leased(batch)]
        prepared = _begun(session, bench, leaving)
        done = do_within(session, bench, [row for row in taken if row.is_within])
    if not taken:
        return ExecutionSweep()
    reached("after_claim")
    ended = run(bench, leaving, prepared) if leaving else defaultdict(list)
    for verdict in done:
        ended[word_of(verdict)].append(verdict.claim.execution_id)
    return ExecutionSweep(
        **{word: tuple(ids) for word, ids in ended.items()},
        is_full=len(taken) >= batch or len(leaving) < len(outward),
    )


def _begun(
    session: Session, bench: Bench, leaving: Sequence[Running]
) -> Sequence[Ready | Verdict]:
    """Lease what leaves the house; a few, which can begin at once, also begin.

    They need no second transaction before their effects, nor a second update.
    """
    if not leaving or len(leaving) > AT_ONCE:
        lease(session, bench, leaving)
        return ()
    now = bench.clock()
    prepared = look(session, leaving, now=now)
    ready = leaving_of(prepared)
    lease(session, bench, leaving, [each.claim.execution_id for each in ready])
    keep_messages(session, ready, now)
    note_recipients(session, readdressed(leaving, ready))
    return prepared


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many executions are due."""
    return backlog_of(session, Execution, now)
