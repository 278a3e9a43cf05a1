"""What becomes of scheduled jobs whose time has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.conditional import unmet_of
from tasks.automation.context import build_contexts
from tasks.automation.guard import why_not
from tasks.automation.hushing import Hush, hushed
from tasks.automation.lateness import is_too_late
from tasks.automation.overdue import siblings, superseded
from tasks.automation.triggers import TRIGGERS
from tasks.models.reason import Reason
from tasks.models.scheduled_job import JobState, ScheduledJob


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of the jobs of a batch; each is in one of the three."""

    going: Sequence[ScheduledJob]
    ended: Mapping[UUID, Reason]
    waits: Mapping[UUID, datetime]  # until its recipient's quiet hours end
    #: What was seen of those whose conditions do not hold.
    details: Mapping[UUID, str]
    #: Others of the jobs' series that are due or were dispatched.
    siblings: Sequence[ScheduledJob]


def judge(session: Session, jobs: Sequence[ScheduledJob], *, now: datetime) -> Judged:
    """Return which due jobs go ahead, which wait, which end and why.

    A fixed number of queries for up to 500 jobs.
    """
    others = siblings(session, jobs, now)
    waiting = [job for job in others if job.state is JobState.PENDING]
    looked_at = [*jobs, *waiting]
    reasons = _reasons(session, looked_at, now)
    details = _unmet(session, [job for job in looked_at if job.id not in reasons])
    reasons |= dict.fromkeys(details, Reason.CONDITION_FALSE)
    hushes = _hushes(session, looked_at, reasons, now)
    stopped = {*reasons, *hushes}
    going = [job for job in looked_at if job.id not in stopped]
    done = [job for job in others if job.state is JobState.DISPATCHED]
    late = superseded(going, done)
    ours = {job.id for job in jobs}
    return Judged(
        going=[j for j in going if j.id in ours and j.id not in late],
        ended={
            **{id_: reason for id_, reason in reasons.items() if id_ in ours},
            **{i: h for i, h in hushes.items() if i in ours and isinstance(h, Reason)},
            **dict.fromkeys(late & ours, Reason.SUPERSEDED),
        },
        waits={
            i: h for i, h in hushes.items() if i in ours and isinstance(h, datetime)
        },
        details={id_: text for id_, text in details.items() if id_ in ours},
        siblings=others,
    )


def _reasons(
    session: Session, jobs: Sequence[ScheduledJob], now: datetime
) -> dict[UUID, Reason]:
    rules = {job.rule_id: job.rule for job in jobs}
    reasons = dict(why_not(session, jobs, now=now, rules=rules))
    for job in jobs:
        trigger = TRIGGERS.get(job.trigger_type)
        # run_at before due_at: an operator said "run now", so it cannot be too late.
        # run_at after it: planned late on purpose; then that plan is what counts.
        if trigger is not None and job.id not in reasons:
            planned = max(job.due_at, job.run_at)
            if is_too_late(job.rule, trigger, planned, job.reference_at, now):
                reasons[job.id] = Reason.TOO_LATE
    return reasons


def _unmet(session: Session, jobs: Sequence[ScheduledJob]) -> dict[UUID, str]:
    asked = [job for job in jobs if job.rule.conditions]
    if not asked:
        return {}
    rules = {job.rule_id: job.rule for job in asked}
    return unmet_of(asked, rules, build_contexts(session, asked))


def _hushes(
    session: Session,
    jobs: Sequence[ScheduledJob],
    reasons: Mapping[UUID, Reason],
    now: datetime,
) -> Mapping[UUID, Hush]:
    left = [job for job in jobs if job.id not in reasons]
    return hushed(session, left, {job.rule_id: job.rule for job in left}, now)
