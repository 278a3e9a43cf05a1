"""Operations: what operators asked to be done to many rows, piece by piece.

Fed by ``tasks.operations.starting``.  Shape: one transaction a piece, which also moves
the operation's progress.  A worker that dies loses the piece under way; its lease ends
and the next sweep begins that piece again.  What fails ``TRIES_MAX`` times at the same
piece is given up, for an operator to look at and resume.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from tasks.backlogs import waiting
from tasks.crashpoints import reached
from tasks.lane import Backlog, Bench
from tasks.models.operation import OPEN, Operation, OperationState
from tasks.models.rollup import Measure
from tasks.operations.pieces import work
from tasks.operations.seeing import within_scope
from tasks.rollups.work import Work, note_work

NAME: Final = "operations"
TRIES_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class OperationSweep:
    """What one sweep did, as operation ids."""

    continued: tuple[UUID, ...] = ()
    finished: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> OperationSweep:
    """Do up to ``limit`` rows of the operation that has waited longest."""
    now = bench.clock()
    with bench.begin() as session:
        claimed = _claim(session, bench, now)
    if claimed is None:
        return OperationSweep()
    id_, has_failed = claimed
    if has_failed:
        return OperationSweep(failed=(id_,), is_full=True)
    with bench.begin() as session:
        operation = session.get(
            Operation, id_, populate_existing=True, with_for_update=True
        )
        if operation is None or operation.state is not OperationState.RUNNING:
            return OperationSweep(is_full=True)  # it was stopped a moment ago
        is_over = _work(session, operation, now=now, limit=limit)
        session.flush()
        reached("in_operation")
    if is_over:
        return OperationSweep(finished=(id_,), is_full=True)
    return OperationSweep(continued=(id_,), is_full=True)


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many operations are open, of the congregations that are seen."""
    del now
    is_open = and_(Operation.state.in_(OPEN), within_scope(session))
    return waiting(session, Operation.touched_at, is_open)


def _work(session: Session, operation: Operation, *, now: datetime, limit: int) -> bool:
    """Do the next piece and count its rows; returns whether it was the last."""
    n_changed, n_skipped = operation.n_changed, operation.n_skipped
    is_over = work(session, operation, now=now, limit=limit)
    of = operation.congregation_id
    is_first = n_changed + n_skipped == 0
    wait = now - operation.created_at if is_first else None
    counted = (
        Work(of, Measure.SUCCEEDED, wait, n=operation.n_changed - n_changed),
        Work(of, Measure.SKIPPED, wait, n=operation.n_skipped - n_skipped),
    )
    note_work(session, NAME, counted, now)
    return is_over


def _claim(session: Session, bench: Bench, now: datetime) -> tuple[UUID, bool] | None:
    """Lease the operation whose turn it is; returns its id, and whether it failed."""
    operation = session.scalars(
        select(Operation)
        .where(
            Operation.state.in_(OPEN),
            or_(Operation.lease_until.is_(None), Operation.lease_until <= now),
        )
        .order_by(Operation.touched_at, Operation.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    ).first()
    if operation is None:
        return None
    if operation.tries >= TRIES_MAX:
        work = Work(operation.congregation_id, Measure.FAILED)
        note_work(session, NAME, [work], now)
        operation.state = OperationState.FAILED
        operation.ended_at = now
        operation.lease_until = None
        operation.error = (
            f"The same piece failed {TRIES_MAX} times; the runs of the lane "
            "“operations” say why. Nothing of that piece was changed."
        )
        return operation.id, True
    operation.state = OperationState.RUNNING
    operation.started_at = operation.started_at or now
    operation.tries += 1
    operation.touched_at = now
    operation.lease_until = now + bench.timing.lease
    return operation.id, False
