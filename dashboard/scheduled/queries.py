"""What the pages of scheduled jobs read: pages by key, capped counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.deeds import deeds
from dashboard.paging import Page, named, paginate
from dashboard.scheduled.lines import Line, lines
from dashboard.tallies import tally
from tasks.bulk import among
from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import (
    AuditEntry,
    Decision,
    JobContext,
    JobState,
    Reason,
    ScheduledJob,
)
from tasks.operations.matching import Matching, narrow, searched
from tasks.operations.undoing_cancel import can_undo
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class Detail:
    """One scheduled job and all that is known of it."""

    line: Line
    context: dict[str, Any] | None
    deeds: Sequence[AuditEntry]  # newest first
    seen: str | None = None  # what was seen of conditions that did not hold

    @property
    def is_undoable(self) -> bool:
        """Whether its cancelling can still be taken back."""
        return can_undo(self.line.job, utcnow())


def page(
    session: Session, matching: Matching, cursor: str | None, limit: int
) -> Page[Line]:
    """Return a page: what waits, soonest first; what has ended, latest first."""
    # The ids alone: for each new value PostgreSQL may plan anew, and planning all the
    # joins takes longer than reading the rows.
    ids, row = searched(ScheduledJob, matching) or (
        narrow(select(ScheduledJob.id), ScheduledJob, matching),
        ScheduledJob,
    )
    some = paginate(session, ids, _columns(row, matching), cursor, limit)
    of_it = by_ids(session, some.rows)
    return named(some, {line.job.id: line for line in of_it})


def _columns(row: Any, matching: Matching) -> Sequence[Any]:  # noqa: ANN401  # the table, or a part of it
    is_waiting = matching.state == JobState.PENDING
    return (row.run_at, row.id) if is_waiting else (row.due_at.desc(), row.id.desc())


def by_ids(session: Session, ids: Sequence[UUID]) -> list[Line]:
    """Return some jobs as the list shows them."""
    if not ids:
        return []
    rows = session.execute(lines().where(among(session, ScheduledJob.id, ids)))
    return [Line(*row) for row in rows]


def counts(
    session: Session, matching: Matching, shown: Sequence[Line] = ()
) -> Mapping[JobState, int]:
    """Return how many match in each state, some as lower bounds (``tallies``)."""
    states = [line.job.state for line in shown]
    return tally(
        session, ScheduledJob, JobState, matching, indexed=set(JobState), shown=states
    )


def detail(session: Session, job_id: UUID) -> Detail:
    """Return one job with its snapshot; four queries at most.

    Raises:
        NotFound: the session sees no such job.
    """
    row = session.execute(
        lines()
        .add_columns(JobContext.context)
        .outerjoin(JobContext, JobContext.scheduled_job_id == ScheduledJob.id)
        .where(ScheduledJob.id == job_id)
    ).one_or_none()
    if row is None:
        raise NotFound("unknown_scheduled_job", say("There is no such scheduled job."))
    *columns, context = row
    line = Line(*columns)
    return Detail(
        line,
        context,
        deeds(session, "scheduled_job", line.job),
        _seen(session, line.job),
    )


def _seen(session: Session, job: ScheduledJob) -> str | None:
    if job.reason != Reason.CONDITION_FALSE:
        return None
    return session.scalar(
        select(Decision.detail).where(
            Decision.rule_id == job.rule_id,
            Decision.created_at == job.settled_at,
            Decision.scheduled_job_id == job.id,
        )
    )
