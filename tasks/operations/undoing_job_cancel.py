"""Taking back that a scheduled job was cancelled, while that is still fresh."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from tasks import doorbell
from tasks.automation.calendar import known
from tasks.automation.replan import carry_out
from tasks.automation.triggers import TIME_TRIGGERS
from tasks.errors import Conflict, NotFound
from tasks.models import JobState, Reason, ScheduledJob
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.matching import is_state
from tasks.operations.scheduled_jobs import LANE
from tasks.operations.undoing_cancel import UNDO_WITHIN
from tasks.saying import say


def undo_cancel_job(
    session: Session, job_id: UUID, actor: Actor, *, now: datetime
) -> bool:
    """Let a cancelled job wait again; returns whether it still does.

    It does not where its date has changed meanwhile: then it is planned for the date
    that holds now.

    Raises:
        NotFound: the session sees no such job.
        Conflict: it was not cancelled by hand, long ago, its rule was deleted or counts
            from no date any more, or it was planned anew meanwhile.
    """
    job = session.scalar(
        select(ScheduledJob)
        .options(joinedload(ScheduledJob.rule))
        .where(ScheduledJob.id == job_id)
    )
    if job is None:
        told = say("There is no such scheduled job.")
        raise NotFound("unknown_scheduled_job", told)
    if job.rule.trigger_type not in TIME_TRIGGERS:
        told = say(
            "Its rule does not count from a date any more, so it stays cancelled."
        )
        raise Conflict("not_undoable", told)
    if job.rule.deleted_at is not None or not _revived(session, job_id, now):
        raise _not_undoable()
    session.refresh(job, ["state", "reason", "settled_at"])
    subject = Subject("scheduled_job", str(job_id), job.congregation_id)
    told = "Took the cancelling back."
    record(session, actor, "scheduled_job.uncancelled", subject, told)
    bookings = {job.booking_id} if job.booking_id else set()
    episodes = {job.episode_id} if job.episode_id else set()
    subjects = known(session, job.congregation_id, bookings, episodes)
    carry_out(session, job.rule, subjects, now)
    doorbell.ask(session, LANE)
    session.refresh(job, ["state"])
    return job.state is JobState.PENDING


def _revived(session: Session, job_id: UUID, now: datetime) -> bool:
    """Let the job wait again, if it may; a living one with its key forbids it."""
    try:
        with session.begin_nested():
            found = session.execute(
                update(ScheduledJob)
                .where(
                    ScheduledJob.id == job_id,
                    is_state(ScheduledJob, JobState.CANCELLED),
                    ScheduledJob.reason == Reason.OPERATOR,
                    ScheduledJob.settled_at > now - UNDO_WITHIN,
                )
                .values(state=JobState.PENDING, reason=None, settled_at=None)
                .returning(ScheduledJob.id)
                .execution_options(synchronize_session=False)
            ).first()
    except IntegrityError:
        return False
    return found is not None


def _not_undoable() -> Conflict:
    return Conflict(
        "not_undoable",
        say(
            "Cancelling can be taken back by hand for %(n)s minutes, unless it was "
            "planned anew meanwhile or its rule was deleted.",
            n=UNDO_WITHIN.seconds // 60,
        ),
    )
