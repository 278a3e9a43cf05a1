"""Executions of dates that had to wait in their lane: are they still of help?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.candidates import Candidate, job_behind, step_number
from tasks.automation.lateness import is_too_late
from tasks.automation.records import chunks
from tasks.automation.triggers import TRIGGERS
from tasks.models.execution import Execution
from tasks.models.rule import Rule
from tasks.models.scheduled_job import ScheduledJob


@dataclass(frozen=True, slots=True)
class Dates:
    """What counts for the lateness of an execution that a job led to."""

    due_at: datetime  # as the job was promised
    ready_at: datetime  # since when it could have gone out, retries included
    reference_at: datetime


def dates_of(session: Session, rows: Sequence[Candidate]) -> dict[UUID, Dates]:
    """Return the dates of executions that jobs led to, by the executions' ids.

    Not of later steps: those may well come after the date.
    """
    wanted = [row.id for row in rows if job_behind(row) and not step_number(row)]
    job, found = ScheduledJob, dict[UUID, Dates]()
    for chunk in chunks(sorted(wanted)):
        planned = (
            select(Execution.id, Execution.run_at, job.due_at, job.reference_at)
            .join(job, job.id == Execution.scheduled_job_id)
            .where(Execution.id.in_(chunk))
        )
        for id_, run_at, due, reference in session.execute(planned):
            found[id_] = Dates(due, max(run_at, due), reference)
    return found


def waited_too_long(
    trigger_type: str, rule: Rule | None, dates: Dates, now: datetime
) -> bool:
    """Return whether it comes too late after its lane was away, or once it began.

    A retry counts from when it could be made, but it never follows what a
    before-rule announces.
    """
    trigger = TRIGGERS.get(trigger_type)
    if trigger is None or rule is None:
        return False
    if trigger.direction < 0 and dates.due_at < dates.reference_at <= now:
        return True
    return is_too_late(rule, trigger, dates.ready_at, dates.reference_at, now)
