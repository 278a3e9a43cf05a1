"""Dates become scheduled jobs: what producers call for ``time.*`` rules.

Planning the same again changes nothing; planning another date moves the jobs.  All
work in the caller's transaction, never raise into the caller, and answer instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from tasks.automation.checks import checked_id
from tasks.automation.guarded import guarded
from tasks.automation.jobs import end_jobs
from tasks.automation.planner import Date
from tasks.automation.plans import reconcile
from tasks.automation.results import (
    UNSET,
    CancelResult,
    RescheduleResult,
    ScheduleResult,
)
from tasks.automation.scope import congregation_of
from tasks.automation.subjects import TimeContext, subject_of
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.models.reason import Reason
from tasks.models.scheduled_job import JobState, ScheduledJob

__all__ = [
    "CancelResult",
    "RescheduleResult",
    "ScheduleResult",
    "TimeContext",
    "cancel_pending_time_based_jobs",
    "reschedule_time_based_jobs_for_episode",
    "schedule_time_based_jobs",
    "schedule_time_based_jobs_for_booking",
    "schedule_time_based_jobs_for_episode",
]


def schedule_time_based_jobs(
    session: Session, context: TimeContext, *, now: datetime | None = None
) -> ScheduleResult:
    """Plan every time rule that the dates concern."""
    at = now or utcnow()
    return guarded(
        session,
        lambda: reconcile(session, [subject_of(session, context)], now=at)[0],
        lambda code, error: ScheduleResult(False, error=error, error_code=code),
    )


def schedule_time_based_jobs_for_booking(
    session: Session,
    booking_id: str,
    podcast_id: str,
    episode_id: str | None,
    guest_id: str | None,
    recording_date: datetime,
    booking_date: datetime,
    timezone: str | None = None,
    *,
    congregation_id: UUID | None = None,
    now: datetime | None = None,
) -> ScheduleResult:
    """Plan a booking that was confirmed.

    When the booking's record knows since when it is confirmed, that instant counts
    and not ``booking_date``: a call that is repeated later then plans the same.
    """
    context = TimeContext(
        podcast_id=podcast_id,
        episode_id=episode_id,
        booking_id=booking_id,
        guest_id=guest_id,
        recording_date=recording_date,
        booking_date=booking_date,
        timezone=timezone,
        congregation_id=congregation_id,
    )
    return schedule_time_based_jobs(session, context, now=now)


def schedule_time_based_jobs_for_episode(
    session: Session,
    episode_id: str,
    podcast_id: str,
    publish_date: datetime | None,
    timezone: str | None = None,
    *,
    congregation_id: UUID | None = None,
    now: datetime | None = None,
) -> ScheduleResult:
    """Plan an episode that was scheduled or published."""
    context = TimeContext(
        podcast_id=podcast_id,
        episode_id=episode_id,
        publish_date=publish_date,
        timezone=timezone,
        congregation_id=congregation_id,
    )
    return schedule_time_based_jobs(session, context, now=now)


def reschedule_time_based_jobs_for_episode(
    session: Session,
    episode_id: str,
    podcast_id: str,
    new_recording_date: Date = UNSET,
    new_publish_date: Date = UNSET,
    booking_id: str | None = None,
    guest_id: str | None = None,
    timezone: str | None = None,
    *,
    congregation_id: UUID | None = None,
    now: datetime | None = None,
) -> RescheduleResult:
    """Move an episode's jobs to its new dates; a date left out stays as it was."""
    context = TimeContext(
        podcast_id=podcast_id,
        episode_id=episode_id,
        booking_id=booking_id,
        guest_id=guest_id,
        recording_date=new_recording_date,
        publish_date=new_publish_date,
        timezone=timezone,
        congregation_id=congregation_id,
    )
    result = schedule_time_based_jobs(session, context, now=now)
    return RescheduleResult(
        success=result.success,
        jobs_cancelled=result.jobs_cancelled,
        jobs_created=result.jobs_created,
        jobs_skipped=result.jobs_skipped,
        rule_ids=result.rule_ids,
        error=result.error,
        error_code=result.error_code,
    )


def cancel_pending_time_based_jobs(
    session: Session,
    *,
    booking_id: str | None = None,
    episode_id: str | None = None,
    podcast_id: str | None = None,
    congregation_id: UUID | None = None,
    reason: Reason = Reason.PRODUCER,
    now: datetime | None = None,
) -> CancelResult:
    """Cancel the pending jobs of a booking, an episode or a whole podcast.

    With several ids given, jobs that match all of them.  Without any nothing is
    cancelled and the answer says so, since that would mean every job there is.
    """
    about = {
        "booking_id": booking_id,
        "episode_id": episode_id,
        "podcast_id": podcast_id,
    }
    at = now or utcnow()

    def cancel() -> CancelResult:
        of = congregation_of(session, congregation_id)
        ended = end_jobs(session, _jobs_of(of, about), JobState.CANCELLED, reason, at)
        return CancelResult(True, jobs_cancelled=len(ended))

    return guarded(
        session,
        cancel,
        lambda code, error: CancelResult(False, error=error, error_code=code),
    )


def _jobs_of(
    of: UUID, about: Mapping[str, str | None]
) -> Sequence[ColumnElement[bool]]:
    """Return what is true of the jobs of one congregation that are about the ids.

    Raises:
        InvalidInput: there is no id, or one is none.
    """
    named = [
        getattr(ScheduledJob, field) == checked_id(id_, field)
        for field, id_ in about.items()
        if id_ is not None
    ]
    if not named:
        raise InvalidInput(
            "entity_required", "Say which booking, episode or podcast it is about."
        )
    return [ScheduledJob.congregation_id == of, *named]
