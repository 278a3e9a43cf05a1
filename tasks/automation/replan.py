"""A rule that begins or changes, and the dates that are in the calendar already.

By default a rule begins with the next date that it hears of.  Here it is planned for
the ones that are known: only where its time is still ahead, never for the past.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.calendar import coming, is_ahead, known
from tasks.automation.jobs import end_jobs
from tasks.automation.keys import Ids
from tasks.automation.planner import Subject
from tasks.automation.plans import reconcile
from tasks.automation.records import chunks
from tasks.automation.triggers import TRIGGERS, Reference
from tasks.models.reason import Reason
from tasks.models.rule import Rule
from tasks.models.scheduled_job import JobState, ScheduledJob


@dataclass(frozen=True, slots=True)
class Replanned:
    """How many scheduled jobs a change of a rule made and ended."""

    n_created: int = 0
    n_cancelled: int = 0

    def __add__(self, other: Replanned) -> Replanned:
        return Replanned(
            self.n_created + other.n_created, self.n_cancelled + other.n_cancelled
        )


def plan_coming(session: Session, rule: Rule, *, now: datetime) -> Replanned:
    """Plan a time rule for what is in the calendar, where its time is still ahead.

    Jobs that are there already stay.  A rule that is off gets its jobs, too: they are
    guarded like those that it had when it was switched off.
    """
    if not TRIGGERS[rule.trigger_type].is_time:
        return Replanned()
    return _carry_out(session, rule, coming(session, rule, now), now)


def move_jobs(session: Session, rule: Rule, *, now: datetime) -> Replanned:
    """End a changed rule's pending jobs and plan anew for what they were about."""
    jobs = session.scalars(
        select(ScheduledJob).where(
            ScheduledJob.rule_id == rule.id, ScheduledJob.state == JobState.PENDING
        )
    ).all()
    which = [ScheduledJob.rule_id == rule.id]
    ended = set(end_jobs(session, which, JobState.SUPERSEDED, Reason.RULE_CHANGED, now))
    # One that a worker took meanwhile is done: planning it again would send it twice.
    moved = [job for job in jobs if job.id in ended]
    if not TRIGGERS[rule.trigger_type].is_time:
        return Replanned(n_cancelled=len(ended))
    subjects = _subjects_of(session, rule, moved, now)
    return Replanned(n_cancelled=len(ended)) + _carry_out(session, rule, subjects, now)


def _subjects_of(
    session: Session, rule: Rule, jobs: Sequence[ScheduledJob], now: datetime
) -> list[Subject]:
    """Return what the jobs were about, with the dates that the rule now counts from.

    A job keeps the date that it was planned with: a producer may have told another
    one than the record has.
    """
    reference = _reference(rule.trigger_type)
    same = [job for job in jobs if _reference(job.trigger_type) == reference]
    other = [job for job in jobs if _reference(job.trigger_type) != reference]
    found = known(
        session,
        rule.congregation_id,
        {job.booking_id for job in other if job.booking_id and reference != "publish"},
        {job.episode_id for job in other if job.episode_id and reference != "booking"},
    )
    kept = [_subject_of(job) for job in same]
    return kept + [subject for subject in found if is_ahead(subject, rule, now)]


def _subject_of(job: ScheduledJob) -> Subject:
    ids = Ids(job.podcast_id, job.episode_id, job.booking_id, job.guest_id)
    reference = _reference(job.trigger_type)
    dates = {reference: job.reference_at} if reference else {}
    return Subject(job.congregation_id, ids, dates, job.timezone)


def _reference(trigger_type: str) -> Reference | None:
    return TRIGGERS[trigger_type].reference


def _carry_out(
    session: Session, rule: Rule, subjects: Sequence[Subject], now: datetime
) -> Replanned:
    acting = rule if rule.enabled else _as_if_on(rule)
    results = [
        result
        for chunk in chunks(subjects)
        for result in reconcile(session, chunk, now=now, rules=[acting])
    ]
    return Replanned(
        sum(result.jobs_created for result in results),
        sum(result.jobs_cancelled for result in results),
    )


def _as_if_on(rule: Rule) -> Rule:
    values = {
        column.key: getattr(rule, column.key) for column in Rule.__table__.columns
    }
    return Rule(**{**values, "enabled": True})
