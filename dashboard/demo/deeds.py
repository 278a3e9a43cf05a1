"""What the demo's operators did, each deed at its instant."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.demo.parish import SACRISTAN
from dashboard.demo.rules import FEEDBACK
from tasks.models import (
    Execution,
    ExecutionState,
    JobState,
    OperationKind,
    Rule,
    ScheduledJob,
    new_id,
)
from tasks.operations.event_matching import EventMatching
from tasks.operations.executions import retry_execution
from tasks.operations.kinds import Asked
from tasks.operations.lanes import pause_lane, resume_lane
from tasks.operations.rules import disable_rule
from tasks.operations.scheduled_jobs import cancel_job
from tasks.operations.starting import start


def switch_off_feedback(session: Session, at: datetime) -> None:
    """Switch a rule off while jobs of it are waiting."""
    rule = session.scalars(select(Rule).where(Rule.name == FEEDBACK)).one()
    disable_rule(session, rule.id, SACRISTAN, now=at)


def retry_the_oldest_failure(session: Session, at: datetime) -> None:
    """Press Retry on what failed first."""
    failed = session.scalar(
        select(Execution.id)
        .where(Execution.state == ExecutionState.FAILED)
        .order_by(Execution.id)
        .limit(1)
    )
    if failed is not None:
        retry_execution(session, failed, SACRISTAN, now=at)


def cancel_the_last_job(session: Session, at: datetime) -> None:
    """Cancel what is planned furthest ahead."""
    job = session.scalar(
        select(ScheduledJob.id)
        .where(ScheduledJob.state == JobState.PENDING)
        .order_by(ScheduledJob.due_at.desc())
        .limit(1)
    )
    if job is not None:
        cancel_job(session, job, SACRISTAN, now=at)


def replay_confirmations(session: Session, at: datetime) -> None:
    """Let the rules look once more at two days of confirmed bookings."""
    since = at - timedelta(days=2)
    meant = EventMatching(type="booking.confirmed", since=since).as_json()
    asked = Asked(OperationKind.REPLAY_EVENTS, meant, at)
    why = "A rule was switched off by mistake."
    start(session, new_id(at), asked, SACRISTAN, why=why, now=at)


def pause_for_the_mail_server(session: Session, at: datetime) -> None:
    """Pause a lane while the mail server is being moved."""
    pause_lane(session, "executions", SACRISTAN, now=at)


def resume_after_it(session: Session, at: datetime) -> None:
    """Let the lane go on."""
    resume_lane(session, "executions", SACRISTAN, now=at)
