"""What the agenda reads: capped counts by hour, marks of days, and a page of jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, literal_column, or_, select
from sqlalchemy.orm import Session

from dashboard.agenda.week import DAYS, HOUR, Week
from dashboard.paging import Page, named, paginate
from dashboard.scheduled.lines import Line
from dashboard.scheduled.queries import by_ids
from tasks.lane import COUNT_CAP
from tasks.models import (
    Campaign,
    Engagement,
    Execution,
    Feed,
    Rule,
    ScheduledJob,
    WakeState,
)
from tasks.operations.matching import is_state
from tasks.rollups.sql import hour_of

#: Rules to choose from, and campaigns and feeds that one week marks.
CHOICES_MAX: Final = 200
_PENDING: Final = "pending"
#: Where some hours begin and end; the end is not included.
Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Volume:
    """How much is planned, by hour."""

    hours: Counter[datetime]
    jobs: Counter[datetime]  # of them, scheduled jobs
    n_jobs: int
    n_executions: int  # later steps and retries
    n_wakeups: int  # agents that are woken
    counted_until: datetime

    def n_besides(self, span: Span) -> int:
        """Return how much of some hours is no scheduled job."""
        among = (at for at in self.hours if span[0] <= at < span[1])
        return sum(self.hours[at] - self.jobs[at] for at in among)


def volume(session: Session, week: Week, rule_id: UUID | None, now: datetime) -> Volume:
    """Count what is planned for a week; three statements, each up to ``COUNT_CAP``.

    What is overdue belongs to no hour to come, so it is left out.
    """
    start = max(week.start, now)
    jobs = _hours(session, _jobs(rule_id), ScheduledJob.run_at, start, week.end)
    waiting = _hours(session, _executions(rule_id), Execution.run_at, start, week.end)
    wakeups: Counter[datetime] = Counter()
    if rule_id is None:
        armed = [Engagement.wake_state == literal_column(f"'{WakeState.ARMED}'")]
        at = Engagement.wake_at
        wakeups = _hours(session, armed, at, start, week.end)
    found = (jobs, waiting, wakeups)
    full = [max(one) for one in found if one.total() >= COUNT_CAP]
    return Volume(
        jobs + waiting + wakeups,
        jobs,
        jobs.total(),
        waiting.total(),
        wakeups.total(),
        min(full) + HOUR if full else week.end,
    )


def page(
    session: Session,
    span: Span,
    rule_id: UUID | None,
    now: datetime,
    cursor: str | None,
    limit: int,
) -> Page[Line]:
    """Return a page of the scheduled jobs of some hours, soonest first."""
    at = ScheduledJob.run_at
    within = (at >= max(span[0], now), at < span[1])
    # Not at once with all that the lines show: for any week PostgreSQL plans to read
    # so much that it would join whole tables.
    ids = select(ScheduledJob.id).where(*_jobs(rule_id), *within)
    found = paginate(session, ids, (at, ScheduledJob.id), cursor, limit)
    return named(found, {line.job.id: line for line in by_ids(session, found.rows)})


def campaigns(session: Session, week: Week) -> Sequence[tuple[date, str, UUID, bool]]:
    """Return days, names and ids of campaigns that begin (True) or end (False)."""
    last = week.first + timedelta(days=DAYS - 1)
    found = session.execute(
        select(Campaign.starts_on, Campaign.ends_on, Campaign.name, Campaign.id)
        .where(
            Campaign.ended_at.is_(None),
            Campaign.missed_at.is_(None),
            or_(
                Campaign.starts_on.between(week.first, last),
                Campaign.ends_on.between(week.first, last),
            ),
        )
        .order_by(Campaign.starts_on, Campaign.id)
        .limit(CHOICES_MAX)
    )
    marks = []
    for starts_on, ends_on, name, id_ in found:
        marks += [(starts_on, name, id_, True), (ends_on, name, id_, False)]
    return marks


def feeds(session: Session, week: Week, now: datetime) -> Counter[date]:
    """Return how many feeds are looked at next on each day, of the first ones."""
    found = session.scalars(
        select(Feed.due_at)
        .where(Feed.due_at >= max(week.start, now), Feed.due_at < week.end)
        .order_by(Feed.due_at)
        .limit(CHOICES_MAX)
    )
    return Counter(week.day_of(due_at) for due_at in found)


def rules(session: Session) -> Sequence[tuple[UUID, str]]:
    """Return the rules to choose from, by name."""
    found = session.execute(
        select(Rule.id, Rule.name)
        .where(Rule.deleted_at.is_(None))
        .order_by(Rule.name, Rule.id)
        .limit(CHOICES_MAX)
    )
    return [(id_, name) for id_, name in found]


def _jobs(rule_id: UUID | None) -> list[ColumnElement[bool]]:
    found = [is_state(ScheduledJob, _PENDING)]
    return found + ([ScheduledJob.rule_id == rule_id] if rule_id else [])


def _executions(rule_id: UUID | None) -> list[ColumnElement[bool]]:
    found = [is_state(Execution, _PENDING)]
    return found + ([Execution.rule_id == rule_id] if rule_id else [])


def _hours(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    at: Any,  # noqa: ANN401  # a column of instants
    start: datetime,
    end: datetime,
) -> Counter[datetime]:
    """Count by hour the first ``COUNT_CAP`` that the index has within the span."""
    some = (
        select(at.label("at"))
        .where(*wanted, at >= start, at < end)
        .order_by(at)
        .limit(COUNT_CAP)
        .subquery("some")
    )
    hours = select(hour_of(some.c.at).label("hour")).subquery("hours")
    counted: Select[datetime, int] = select(hours.c.hour, func.count()).group_by(
        hours.c.hour
    )
    return Counter({row.hour: row[1] for row in session.execute(counted)})
