"""What is still to come for a record: jobs, and executions that wait."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from dashboard.congregations import trail
from dashboard.congregations.moments import Moment, of_execution, of_job
from dashboard.congregations.records import Names
from dashboard.congregations.trail import FRAME, waiting
from tasks.models import Execution, Rule, ScheduledJob

#: What is still to come, at most; the lists of executions and jobs have the rest.
AHEAD_MAX: Final = 50


def coming(session: Session, names: Names) -> list[Moment]:
    """Return what waits for its time, soonest first; one more than is shown."""
    some = AHEAD_MAX + 1
    jobs = session.scalars(
        select(ScheduledJob)
        .options(joinedload(ScheduledJob.rule).load_only(Rule.name))
        .where(
            ScheduledJob.id.in_(
                trail.jobs(names, FRAME, waiting(ScheduledJob), at=ScheduledJob.run_at)
            )
        )
        .order_by(ScheduledJob.run_at, ScheduledJob.id)
        .limit(some)
    )
    executions = session.scalars(
        select(Execution)
        .options(joinedload(Execution.rule).load_only(Rule.name))
        .where(trail.executions(names, FRAME, waiting(Execution)))
        .order_by(Execution.run_at, Execution.id)
        .limit(some)
    )
    found = [of_job(row, row.run_at) for row in jobs]
    found += [of_execution(row, row.run_at) for row in executions]
    return sorted(found, key=lambda each: each.place)[:some]
