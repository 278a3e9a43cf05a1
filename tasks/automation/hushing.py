"""Quiet hours looked at right before something happens: it goes, waits or ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.candidates import Candidate, job_behind, step_number
from tasks.automation.quiet import clocks_of, is_begun, quiet_end
from tasks.automation.records import chunks, load_records
from tasks.automation.steps import step_of
from tasks.models.reason import Reason
from tasks.models.rule import QuietPolicy, Rule
from tasks.models.scheduled_job import ScheduledJob

#: When it may go on, or the reason why it ends.
Hush = datetime | Reason


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a job was planned with."""

    timezone: str
    reference_at: datetime


def hushed(
    session: Session,
    rows: Sequence[Candidate],
    rules: Mapping[UUID, Rule],
    now: datetime,
) -> dict[UUID, Hush]:
    """Return which rows must not act now because of quiet hours, and what instead.

    A row that is not in the answer may go.  No query unless a rule has quiet hours,
    a fixed number for up to 500 rows otherwise.
    """
    hushing = {rule.id for rule in rules.values() if rule.quiet_from is not None}
    if not hushing:
        return {}
    quiet = [row for row in rows if row.rule_id in hushing]
    plans = _plans(session, quiet)
    records = load_records(session, quiet)
    found: dict[UUID, Hush] = {}
    for row in quiet:
        rule, plan = rules[row.rule_id], plans.get(row.id)
        clocks = clocks_of(row, records, plan.timezone if plan else None)
        if hush := _hush(row, rule, clocks.of(_settings(row, rule)), plan, now):
            found[row.id] = hush
    return found


def _hush(
    row: Candidate,
    rule: Rule,
    timezone: str,
    plan: _Plan | None,
    now: datetime,
) -> Hush | None:
    end = quiet_end(rule, now, timezone)
    if rule.quiet_policy == QuietPolicy.SKIP:
        # Its own moment counts as well: it is not to go out late instead.
        promised = min(row.due_at, now)
        is_quiet = end is not None or quiet_end(rule, promised, timezone) is not None
        return Reason.QUIET_HOURS if is_quiet else None
    if end is None:
        return None
    is_later_step = step_number(row) > 0
    reference = plan.reference_at if plan and not is_later_step else None
    return Reason.QUIET_HOURS if is_begun(rule, reference, end) else end


def _settings(row: Candidate, rule: Rule) -> Mapping[str, object]:
    step = step_of(rule, step_number(row))
    return step.settings if step else rule.settings


def _plans(session: Session, rows: Sequence[Candidate]) -> dict[UUID, _Plan]:
    """Return what the rows' jobs were planned with; events' rows have none."""
    found: dict[UUID, _Plan] = {}
    by_job: dict[UUID, list[UUID]] = {}
    for row in rows:
        if isinstance(row, ScheduledJob):
            found[row.id] = _Plan(row.timezone, row.reference_at)
        elif (job_id := job_behind(row)) is not None:
            by_job.setdefault(job_id, []).append(row.id)
    job = ScheduledJob
    for ids in chunks(sorted(by_job)):
        planned = select(job.id, job.timezone, job.reference_at).where(job.id.in_(ids))
        for job_id, timezone, reference_at in session.execute(planned):
            plan = _Plan(timezone, reference_at)
            found.update(dict.fromkeys(by_job[job_id], plan))
    return found
