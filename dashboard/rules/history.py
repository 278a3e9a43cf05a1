"""What one rule did, did not do, and is about to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, func, literal_column, select
from sqlalchemy.orm import Session, aliased

from tasks.automation.calendar import COMING_CAP
from tasks.automation.replan import outdated
from tasks.models import (
    Booking,
    Decision,
    DecisionOutcome,
    Episode,
    Execution,
    JobState,
    Replan,
    Rule,
    ScheduledJob,
)

#: Rows of each list on a rule's page.
RECENT: Final = 10
#: Decisions of a rule among which its noes are looked for.
DECISIONS_MAX: Final = 1_000


def recent_executions(session: Session, rule_id: UUID) -> Sequence[Execution]:
    """Return the rule's newest executions."""
    return session.scalars(
        select(Execution)
        .where(Execution.rule_id == rule_id)
        .order_by(Execution.id.desc())
        .limit(RECENT)
    ).all()


def coming_jobs(
    session: Session, rule_id: UUID
) -> Sequence[tuple[ScheduledJob, str | None]]:
    """Return the rule's next scheduled jobs, soonest first, with whom they are for."""
    of = ScheduledJob.congregation_id
    is_booking = (Booking.congregation_id == of) & (
        Booking.id == ScheduledJob.booking_id
    )
    is_episode = (Episode.congregation_id == of) & (
        Episode.id == ScheduledJob.episode_id
    )
    rows = session.execute(
        select(ScheduledJob, func.coalesce(Booking.guest_name, Episode.title))
        .outerjoin(Booking, is_booking)
        .outerjoin(Episode, is_episode)
        .where(ScheduledJob.rule_id == rule_id, ScheduledJob.state == JobState.PENDING)
        .order_by(ScheduledJob.run_at, ScheduledJob.id)
        .limit(RECENT)
    )
    return [(job, name) for job, name in rows]


def recent_noes(session: Session, rule_id: UUID) -> Sequence[Decision]:
    """Return when the rule was last asked and did nothing, newest first.

    Looked for among its newest ``DECISIONS_MAX`` decisions: most rules say yes to most
    of what they are asked, and no index knows the noes.
    """
    newest = (
        select(Decision)
        .where(Decision.rule_id == rule_id)
        .order_by(Decision.created_at.desc())
        .limit(literal_column(str(DECISIONS_MAX), Integer))
    )
    row = aliased(Decision, newest.subquery("newest"))
    return session.scalars(
        select(row)
        .where(row.outcome == DecisionOutcome.NO)
        .order_by(row.created_at.desc(), row.id.desc())
        .limit(RECENT)
    ).all()


def n_outdated(session: Session, rule: Rule) -> int:
    """Return how many pending jobs a change of the rule has yet to move.

    At most ``COMING_CAP`` are counted.
    """
    if session.get(Replan, rule.id) is None:
        return 0
    some = select(ScheduledJob.id).where(*outdated(rule)).limit(COMING_CAP).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0
