"""A scheduled job that makes the program fail: its execution has failed already."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.orm import Session

from tasks.automation.composing import BUG
from tasks.automation.executions import NewExecution, insert_executions
from tasks.automation.steps import follow_up
from tasks.executing.settling import settle_taken
from tasks.executing.verdicts import refuse
from tasks.held import Claim
from tasks.models.base import new_id
from tasks.models.reason import Reason
from tasks.models.rollup import EndedKind
from tasks.models.rule import Rule
from tasks.models.scheduled_job import JobContext, JobState, ScheduledJob
from tasks.rollups.ended import note_ended
from tasks.saying import say

#: How long a job waits that cannot even fail.
PUT_OFF: Final = timedelta(hours=1)


def fail(session: Session, job_id: UUID, *, worker: str, now: datetime) -> None:
    """Let a locked job end in an execution that failed; caller commits.

    It stands with the other failures, and a retry looks at everything again.  Nothing
    is asked of what failed: whom it goes to is found out then.
    """
    job = session.get_one(ScheduledJob, job_id)
    rule = session.get_one(Rule, job.rule_id)
    kept = session.get(JobContext, job.id)
    made = NewExecution(
        id=new_id(now),
        congregation_id=job.congregation_id,
        rule_id=rule.id,
        rule_version=rule.version,
        scheduled_job_id=job.id,
        trigger_type=job.trigger_type,
        action=rule.action,
        podcast_id=job.podcast_id,
        episode_id=job.episode_id,
        booking_id=job.booking_id,
        guest_id=job.guest_id,
        idempotency_key=f"{job.idempotency_key}#{job.id}",
        due_at=job.due_at,
        run_at=now,
        max_attempts=rule.max_attempts,
        created_at=now,
        context=kept.context if kept else {},
    )
    insert_executions(session, [made])
    follow_up(session, [(rule, made)], now)
    verdict = refuse(
        Claim(made.id, 1, job.congregation_id), Reason.BAD_MESSAGE, say(BUG)
    )
    settle_taken(session, [verdict], worker=worker, now=now)
    job.execution_id = made.id
    job.move_to(JobState.DISPATCHED, at=now)
    session.flush()
    note_ended(session, EndedKind.JOB, [(job.id, 0)])


def put_off(session: Session, job_id: UUID, now: datetime) -> None:
    """Let a locked job wait, so that it holds up nobody else; caller commits."""
    session.execute(
        update(ScheduledJob)
        .where(ScheduledJob.id == job_id)
        .values(run_at=now + PUT_OFF)
        .execution_options(synchronize_session=False)
    )
