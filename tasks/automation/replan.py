"""A rule that begins or changes, and the dates that are in the calendar already.

By default a rule begins with the next date that it hears of.  Here it is planned for
the ones that are known: only where its time is still ahead, never for the past.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, literal_column
from sqlalchemy.orm import Session

from tasks.automation.calendar import coming, is_ahead, known
from tasks.automation.jobs import end_jobs
from tasks.automation.planner import Subject
from tasks.automation.plans import reconcile
from tasks.automation.records import chunks
from tasks.automation.subjects import of_jobs
from tasks.automation.triggers import TRIGGERS, Reference
from tasks.models.reason import Reason
from tasks.models.rule import Rule
from tasks.models.scheduled_job import JobState, ScheduledJob


@dataclass(frozen=True, slots=True)
class Replanned:
    """How many scheduled jobs a change of a rule made and ended."""

    n_created: int = 0
    n_cancelled: int = 0
    is_later: bool = False  # they are many, and the lane "replanning" plans them

    def __add__(self, other: Replanned) -> Replanned:
        return Replanned(
            self.n_created + other.n_created,
            self.n_cancelled + other.n_cancelled,
            self.is_later or other.is_later,
        )


def plan_coming(session: Session, rule: Rule, *, now: datetime) -> Replanned:
    """Plan a time rule for what is in the calendar, where its time is still ahead.

    Jobs that are there already stay.  A rule that is off gets its jobs, too: they are
    guarded like those that it had when it was switched off.
    """
    if not TRIGGERS[rule.trigger_type].is_time:
        return Replanned()
    return carry_out(session, rule, coming(session, rule, now), now)


def outdated(rule: Rule | type[Rule]) -> list[ColumnElement[bool]]:
    """Return what tells the jobs that a changed rule has yet to plan anew."""
    return [
        ScheduledJob.rule_id == rule.id,
        ScheduledJob.state == literal_column("'pending'"),
        ScheduledJob.rule_version < rule.plan_version,
    ]


def move_jobs(
    session: Session, rule: Rule, jobs: Sequence[ScheduledJob], *, now: datetime
) -> Replanned:
    """End pending jobs of a changed rule and plan anew for what they were about."""
    ended: set[UUID] = set()
    for chunk in chunks(sorted(job.id for job in jobs)):
        which = [ScheduledJob.id.in_(chunk)]
        ended.update(
            end_jobs(session, which, JobState.SUPERSEDED, Reason.RULE_CHANGED, now)
        )
    # One that a worker took meanwhile is done: planning it again would send it twice.
    moved = [job for job in jobs if job.id in ended]
    if not TRIGGERS[rule.trigger_type].is_time:
        return Replanned(n_cancelled=len(ended))
    subjects = subjects_of(session, rule, moved, now)
    return Replanned(n_cancelled=len(ended)) + carry_out(session, rule, subjects, now)


def subjects_of(
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
    kept = [each for chunk in chunks(same) for each in of_jobs(session, chunk)]
    return kept + [subject for subject in found if is_ahead(subject, rule, now)]


def _reference(trigger_type: str) -> Reference | None:
    return TRIGGERS[trigger_type].reference


def carry_out(
    session: Session, rule: Rule, subjects: Sequence[Subject], now: datetime
) -> Replanned:
    """Plan the rule, as if it were on, for these subjects of its congregation."""
    acting = rule if rule.enabled else as_if(rule, enabled=True)
    results = [
        result
        for chunk in chunks(subjects)
        for result in reconcile(session, chunk, now=now, rules=[acting])
    ]
    return Replanned(
        sum(result.jobs_created for result in results),
        sum(result.jobs_cancelled for result in results),
    )


def as_if(rule: Rule, **values: object) -> Rule:
    """Return a copy of the rule with other values, which no session knows."""
    kept = {column.key: getattr(rule, column.key) for column in Rule.__table__.columns}
    return Rule(**{**kept, **values})
