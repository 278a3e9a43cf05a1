"""Rescue: take back what died with its worker.

Fed by leases that nobody renews: of executions, deliveries, digests' mails and long
jobs; and by sweeps that were asked for and whose worker is silent.  Shape: one
transaction, and one more for mails, long jobs and sweeps.  An execution that
took its worker down three times is quarantined instead of tried for ever.  What the
worker had claimed, but not begun, is not suspected: many such rows go down with every
worker.  What crashed twice is claimed only while no other such row runs
(``tasks.claims``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal_column, select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.backlogs import waiting
from tasks.congregation.notifications import settling as mails
from tasks.congregation.vanished import take_back_long_jobs
from tasks.crashpoints import reached
from tasks.failures.noting import Failure, note_executions
from tasks.lane import Backlog, Bench
from tasks.lost_runs import end_lost
from tasks.models.execution import Attempt, AttemptOutcome, Execution, ExecutionState
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rollup import EndedKind
from tasks.rollups.ended import note_ended
from tasks.rollups.rescued import note_rescued
from tasks.webhooks.rescuing import take_back

#: This many crashes quarantine an execution.
CRASHES_MAX: Final = 3
#: Every tenth crash before the effect began makes a suspect too: preparing may kill.
BYSTANDINGS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class RescueSweep:
    """What one sweep did, as ids: the first two are executions'."""

    taken_back: tuple[UUID, ...] = ()
    quarantined: tuple[UUID, ...] = ()
    deliveries: tuple[UUID, ...] = ()  # webhooks' deliveries that were taken back
    mails: tuple[UUID, ...] = ()  # mails of digests that were taken back
    long_jobs: tuple[UUID, ...] = ()  # syncs and such
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> RescueSweep:
    """Take back up to ``limit`` of each kind, longest overdue first."""
    now = bench.clock()
    with bench.begin() as session:
        overdue = session.scalars(
            select(Execution)
            .where(*_lapsed(now))
            .order_by(Execution.lease_until, Execution.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        ).all()
        suspects = _suspects(session, overdue)
        note_rescued(session, overdue, now)
        for execution in overdue:
            session.add(_attempt_of(execution, now))
            _take_back(execution, now, is_suspect=execution.id in suspects)
        if overdue:
            reached("in_rescue")
            doorbell.ask(session, "executions")
        keys = [(execution.id, execution.attempt) for execution in overdue]
        note_ended(session, EndedKind.EXECUTION, keys)
        states = {execution.id: execution.state for execution in overdue}
        note_executions(session, _quarantined(overdue), now)
        deliveries = take_back(session, now, limit)
    with bench.begin() as session:
        mails_back = mails.take_back(session, now, limit)
        long_jobs = take_back_long_jobs(session, now, limit)
        end_lost(session, now)
    return RescueSweep(
        taken_back=tuple(i for i, s in states.items() if s is ExecutionState.PENDING),
        quarantined=tuple(
            i for i, s in states.items() if s is ExecutionState.QUARANTINED
        ),
        deliveries=tuple(deliveries),
        mails=tuple(mails_back),
        long_jobs=tuple(long_jobs),
        is_full=limit in {len(overdue), len(deliveries), len(mails_back)},
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many leases of executions have lapsed."""
    return waiting(session, Execution.lease_until, *_lapsed(now))


def _lapsed(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (Execution.state == literal_column("'running'"), Execution.lease_until < now)


def _take_back(execution: Execution, now: datetime, *, is_suspect: bool) -> None:
    if is_suspect:
        execution.crashes += 1
    if is_suspect and execution.crashes >= CRASHES_MAX:
        execution.error = SENTENCES[Reason.WORKER_CRASHES]
        execution.move_to(
            ExecutionState.QUARANTINED, at=now, reason=Reason.WORKER_CRASHES
        )
        return
    execution.error = "The worker did not come back."
    execution.run_at = now
    execution.move_to(ExecutionState.PENDING, at=now)


def _quarantined(overdue: Sequence[Execution]) -> list[Failure]:
    return [
        Failure(each.id, each.congregation_id, each.reason, each.error)
        for each in overdue
        if each.state is ExecutionState.QUARANTINED
    ]


def _suspects(session: Session, executions: Sequence[Execution]) -> set[UUID]:
    """Return which may have brought their worker down: what had begun, mostly."""
    begun = {each.id for each in executions if each.effect_at is not None}
    others = [each.id for each in executions if each.effect_at is None]
    crashes = session.execute(
        select(Attempt.execution_id, func.count())
        .where(
            Attempt.execution_id.in_(others),
            Attempt.outcome == AttemptOutcome.CRASHED,
        )
        .group_by(Attempt.execution_id)
    )
    return begun | {id_ for id_, n in crashes if (n + 1) % BYSTANDINGS_MAX == 0}


def _attempt_of(execution: Execution, now: datetime) -> Attempt:
    """Return the attempt that nobody ended: did its effect begin or not?"""
    has_begun = execution.effect_at is not None
    return Attempt(
        congregation_id=execution.congregation_id,
        execution_id=execution.id,
        number=execution.attempt,
        worker=execution.worker or "",
        started_at=execution.claimed_at or now,
        effect_started_at=execution.effect_at,
        finished_at=now,
        outcome=AttemptOutcome.UNKNOWN if has_begun else AttemptOutcome.CRASHED,
        error=(
            "The worker vanished after the effect began; whether it arrived is unknown."
            if has_begun
            else "The worker vanished before the effect began."
        ),
    )
