"""Scheduled jobs: what is due becomes an execution, or ends with a reason.

Fed by ``tasks.automation.scheduler``.  Shape: one transaction, so a job and its
execution exist together or not at all.  A job that makes the program fail becomes an
execution that has failed, which operators see and may retry; the others go on.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from tasks import doorbell
from tasks.automation.actions import ACTIONS
from tasks.automation.context import build_contexts
from tasks.automation.decisions import record, verdict
from tasks.automation.executions import NewExecution, insert_executions
from tasks.automation.following import take_along
from tasks.automation.guard import rules_of
from tasks.automation.judging import Judged, judge
from tasks.automation.overdue import overtake
from tasks.automation.steps import follow_up
from tasks.bulk import BulkUpdate, among
from tasks.claims import backlog_of, due_ids
from tasks.crashpoints import reached
from tasks.executing.apart import apart
from tasks.executing.failing import fail, put_off
from tasks.executing.recording import AWAY
from tasks.lane import Backlog, Bench
from tasks.models.base import Json, new_id
from tasks.models.event import DecisionOutcome
from tasks.models.reason import Reason
from tasks.models.rollup import EndedKind
from tasks.models.scheduled_job import JobState, ScheduledJob
from tasks.rollups.ended import note_ended

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScheduledJobSweep:
    """What one sweep did, as job ids."""

    dispatched: tuple[UUID, ...] = ()
    skipped: tuple[UUID, ...] = ()
    missed: tuple[UUID, ...] = ()
    superseded: tuple[UUID, ...] = ()  # a later reminder of the same goes out
    waiting: tuple[UUID, ...] = ()  # until its recipient's quiet hours end
    failed: tuple[UUID, ...] = ()  # an error in the program; so did their executions
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ScheduledJobSweep:
    """Dispatch up to ``limit`` due jobs, oldest first, fairly between congregations."""
    now = bench.clock()
    try:
        with bench.begin() as session:
            ids = due_ids(session, ScheduledJob, now=now, limit=limit)
            words = _words(session, ids, now)
    except AWAY:
        raise
    except Exception:  # one bad job must not keep the others from going out
        logger.exception("scheduled_jobs.apart")
        with bench.begin() as session:
            ids = due_ids(session, ScheduledJob, now=now, limit=limit)
            words = _apart(session, bench, ids, now)
    ended: dict[str, list[UUID]] = defaultdict(list)
    for id_, word in zip(ids, words, strict=True):
        if word is not None:
            ended[word].append(id_)
    return ScheduledJobSweep(
        **{word: tuple(some) for word, some in ended.items()},
        is_full=len(ids) == limit,
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many jobs are due."""
    return backlog_of(session, ScheduledJob, now)


def _words(session: Session, ids: Sequence[UUID], now: datetime) -> list[str | None]:
    """Dispatch or end locked jobs; returns what became of each.

    ``None``: it was planned anew.
    """
    jobs = _due(session, ids)
    judged = judge(session, jobs, now=now)
    _dispatch(session, judged.going, now)
    overtake(session, judged.going, judged.siblings, now)
    _settle(jobs, judged, now)
    _tell(session, jobs, judged, now)
    settled = [(job.id, 0) for job in jobs if job.state is not JobState.PENDING]
    note_ended(session, EndedKind.JOB, settled)
    if judged.going:
        reached("in_dispatch")
        doorbell.ask(session, "executions")
    words = {job.id: _WORDS.get(job.state, job.state.value) for job in jobs}
    return [words.get(id_) for id_ in ids]


def _apart(
    session: Session, bench: Bench, ids: Sequence[UUID], now: datetime
) -> list[str | None]:
    """Do the same in savepoints, so that what fails does so alone."""

    def step(some: Sequence[UUID]) -> list[str | None]:
        session.expire_all()  # what a savepoint before took back may look done
        with session.begin_nested():
            return _words(session, some, now)

    def broken(id_: UUID, error: Exception) -> str:
        logger.error("scheduled_job.failed", exc_info=error, extra={"id": str(id_)})
        session.expire_all()
        try:
            with session.begin_nested():
                fail(session, id_, worker=bench.worker, now=now)
        except AWAY:
            raise
        except Exception:  # not even that: its turn comes again, behind the others
            logger.exception("scheduled_job.put_off", extra={"id": str(id_)})
            put_off(session, id_, now)
        return "failed"

    return apart(step, ids, broken, of_all=AWAY)


def _due(session: Session, ids: Sequence[UUID]) -> Sequence[ScheduledJob]:
    if not ids:
        return []
    due = session.scalars(
        select(ScheduledJob)
        .where(among(session, ScheduledJob.id, ids))
        .order_by(ScheduledJob.run_at, ScheduledJob.id)
    ).all()
    # By their own ids: many jobs share a rule, which is long to read.
    rules = rules_of(session, due)
    for job in due:
        set_committed_value(job, "rule", rules[job.rule_id])
    # Their rule has another time by now, and the lane "replanning" is not there yet.
    planned_anew = take_along(session, due)
    return [job for job in due if job.id not in planned_anew]


#: How a sweep tells of states, where it has a word of its own.
_WORDS: Final = {JobState.PENDING: "waiting"}
_ENDS: Final = {
    Reason.TOO_LATE: JobState.MISSED,
    Reason.SUPERSEDED: JobState.SUPERSEDED,
}


def _settle(jobs: Sequence[ScheduledJob], judged: Judged, now: datetime) -> None:
    for job in jobs:
        if (reason := judged.ended.get(job.id)) is not None:
            state = _ENDS.get(reason, JobState.SKIPPED)
            job.move_to(state, at=now, reason=reason)
        elif (until := judged.waits.get(job.id)) is not None:
            job.run_at = until


def _tell(
    session: Session, jobs: Sequence[ScheduledJob], judged: Judged, now: datetime
) -> None:
    """Write down what was seen of conditions that did not hold."""
    noes = [
        verdict(
            job.rule,
            DecisionOutcome.NO,
            entity_id=job.booking_id or job.episode_id or job.podcast_id,
            reason=Reason.CONDITION_FALSE,
            detail=judged.details[job.id],
            scheduled_job_id=job.id,
        )
        for job in jobs
        if job.id in judged.details
    ]
    record(session, noes, now)


def _dispatch(session: Session, jobs: Sequence[ScheduledJob], now: datetime) -> None:
    contexts = build_contexts(session, jobs)
    rows = {job.id: _execution_of(job, contexts[job.id], now) for job in jobs}
    inserted = insert_executions(session, list(rows.values()))
    fired = [(job.rule, rows[job.id]) for job in jobs if rows[job.id].id in inserted]
    follow_up(session, fired, now)
    gone = [job for job in jobs if rows[job.id].id in inserted]
    _mark(session, [(job, rows[job.id].id) for job in gone], now)
    for job in jobs:
        if rows[job.id].id not in inserted:
            job.move_to(JobState.SKIPPED, at=now, reason=Reason.DUPLICATE)


_MARK: Final = BulkUpdate(
    ScheduledJob.metadata.tables[ScheduledJob.__tablename__],
    keys=("id",),
    columns=("execution_id", "settled_at"),
    constant={"state": JobState.DISPATCHED},
)


def _mark(
    session: Session, gone: Sequence[tuple[ScheduledJob, UUID]], now: datetime
) -> None:
    """Mark jobs as dispatched, all in one statement: the claim holds their rows."""
    _MARK(
        session,
        [
            {"id": job.id, "execution_id": execution_id, "settled_at": now}
            for job, execution_id in gone
        ],
    )
    for job, execution_id in gone:
        set_committed_value(job, "state", JobState.DISPATCHED)
        set_committed_value(job, "execution_id", execution_id)
        set_committed_value(job, "settled_at", now)


def _execution_of(job: ScheduledJob, context: Json, now: datetime) -> NewExecution:
    action = ACTIONS.get(job.rule.action)
    return NewExecution(
        id=new_id(now),
        congregation_id=job.congregation_id,
        rule_id=job.rule_id,
        rule_version=job.rule.version,
        scheduled_job_id=job.id,
        event_id=None,
        trigger_type=job.trigger_type,
        action=job.rule.action,
        podcast_id=job.podcast_id,
        episode_id=job.episode_id,
        booking_id=job.booking_id,
        guest_id=job.guest_id,
        recipient=action.recipient(job.rule.settings, context) if action else None,
        # The job's own id: a plan that came back (14:00, 15:45, 14:00) is a new job.
        idempotency_key=f"{job.idempotency_key}#{job.id}",
        due_at=job.due_at,
        run_at=now,
        max_attempts=job.rule.max_attempts,
        created_at=now,
        context=context,
    )
