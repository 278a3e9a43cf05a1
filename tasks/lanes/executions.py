"""Executions: run what is due, and try again what failed.

Fed by events (``tasks.automation.events``) and by the lane ``scheduled_jobs``.  Shape:
claim · act · settle.  When the worker dies, ``rescue`` takes the rows back; when it
stops, it gives back what it had not begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Table, bindparam, insert, literal_column, select, update
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.claims import backlog_of, due_ids, next_suspect
from tasks.crashpoints import reached
from tasks.executing.running import AT_ONCE, run
from tasks.held import Claim
from tasks.lane import Backlog, Bench
from tasks.models.execution import Attempt, Execution, ExecutionState

_EXECUTIONS: Final[Table] = Execution.metadata.tables[Execution.__tablename__]
_ATTEMPTS: Final[Table] = Attempt.metadata.tables[Attempt.__tablename__]


@dataclass(frozen=True, slots=True)
class ExecutionSweep:
    """What one sweep did, as execution ids."""

    succeeded: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    skipped: tuple[UUID, ...] = ()
    deferred: tuple[UUID, ...] = ()  # above their rule's rate limit: wait their turn
    released: tuple[UUID, ...] = ()  # given back, not begun: the worker stops
    lost: tuple[UUID, ...] = ()  # somebody else owns them now
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ExecutionSweep:
    """Run up to ``limit`` due executions, oldest first, fairly between tenants."""
    batch = bench.pace.batch(limit=limit, at_once=AT_ONCE)
    with bench.begin() as session:
        claims = claim(session, bench, limit=batch)
    if not claims:
        return ExecutionSweep()
    reached("after_claim")
    ended = run(bench, claims)
    return ExecutionSweep(
        **{word: tuple(ids) for word, ids in ended.items()},
        is_full=len(claims) >= batch,
    )


def claim(session: Session, bench: Bench, *, limit: int) -> list[Claim]:
    """Lease up to ``limit`` due executions and open an attempt for each.

    Returns them in the order in which they were due, a suspect of crashes last and
    beyond the limit.  Caller commits.
    """
    if bench.stopping.is_set():
        return []
    now = bench.clock()
    ids = list(due_ids(session, Execution, now=now, limit=limit))
    if suspect := next_suspect(session, now):
        ids.append(suspect)
    if not ids:
        return []
    leased = session.execute(
        update(_EXECUTIONS)
        .where(
            among(session, Execution.id, ids),
            Execution.state == literal_column("'pending'"),
        )
        .values(
            state=ExecutionState.RUNNING,
            attempt=Execution.attempt + 1,
            worker=bench.worker,
            lease_until=now + bench.timing.lease,
        )
        .returning(
            _EXECUTIONS.c.id, _EXECUTIONS.c.attempt, _EXECUTIONS.c.congregation_id
        )
    ).all()
    claims = {row.id: Claim(row.id, row.attempt, row.congregation_id) for row in leased}
    if claims:
        _open_attempts(session, list(claims), bench.worker, now)
    return [claims[id_] for id_ in ids if id_ in claims]


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many executions are due."""
    return backlog_of(session, Execution, now)


def _open_attempts(
    session: Session, ids: Sequence[UUID], worker: str, now: datetime
) -> None:
    leased = select(
        Execution.congregation_id,
        Execution.id,
        Execution.attempt,
        bindparam("worker", worker, Attempt.worker.type),
        bindparam("now", now, Attempt.started_at.type),
    ).where(among(session, Execution.id, ids))
    columns = ("congregation_id", "execution_id", "number", "worker", "started_at")
    session.execute(insert(_ATTEMPTS).from_select(columns, leased))
