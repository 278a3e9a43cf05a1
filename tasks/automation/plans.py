"""Carrying plans out: which jobs end, which begin, and what every rule decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation import decisions
from tasks.automation.decisions import OUT_OF_SCOPE_MAX, Verdict, verdict
from tasks.automation.jobs import end_jobs, existing_jobs, insert_jobs
from tasks.automation.planner import Plan, Subject, Wanted, plan
from tasks.automation.records import chunks
from tasks.automation.results import ScheduleResult
from tasks.automation.triggers import TIME_TRIGGERS
from tasks.models.base import new_id
from tasks.models.event import DecisionOutcome
from tasks.models.reason import Reason
from tasks.models.rule import Rule
from tasks.models.scheduled_job import JobState, ScheduledJob


@dataclass(slots=True)
class _Work:
    """One subject's plan under way; the wanted jobs by the ids they get."""

    plan: Plan
    wanted: dict[UUID, Wanted] = field(default_factory=dict)


def reconcile(
    session: Session,
    subjects: Sequence[Subject],
    *,
    now: datetime,
    rules: Sequence[Rule] | None = None,
) -> list[ScheduleResult]:
    """Make the subjects' pending jobs what their dates and rules ask for.

    A fixed number of statements for up to 500 subjects of one congregation.  Flushes
    only; raises what the database raises.

    Args:
        rules: look at these rules alone; ``None``: at all of the congregation.
    """
    if not subjects:
        return []
    if rules is None:
        rules = time_rules(session, subjects[0].congregation_id)
    existing = existing_jobs(session, subjects)
    works = []
    for subject in subjects:
        made = plan(subject, rules, existing(subject.ids), now=now)
        works.append(_Work(made, {new_id(): wanted for wanted in made.wanted}))
    ended = _end(session, works, now)
    wanted = {job_id: job for work in works for job_id, job in work.wanted.items()}
    born = insert_jobs(session, list(wanted.items()), now)
    decisions.record(session, [v for w in works for v in _verdicts(w, born)], now)
    running = [wanted[job_id] for job_id in born if wanted[job_id].reason is None]
    if any(job.run_at <= now for job in running):
        doorbell.ask(session, "scheduled_jobs")
    return [_result(work, born, ended) for work in works]


def time_rules(session: Session, congregation_id: UUID) -> Sequence[Rule]:
    """Return the congregation's rules that count from dates, deleted ones left out."""
    return session.scalars(
        select(Rule)
        .where(
            Rule.congregation_id == congregation_id,
            Rule.trigger_type.in_(TIME_TRIGGERS),
            Rule.deleted_at.is_(None),
        )
        .order_by(Rule.id)
    ).all()


def _end(session: Session, works: Sequence[_Work], now: datetime) -> set[UUID]:
    """End the jobs that the plans end, before those of the same keys are inserted."""
    by_reason: dict[Reason, list[UUID]] = defaultdict(list)
    for work in works:
        for job_id, reason in work.plan.ended.items():
            by_reason[reason].append(job_id)
    ended: set[UUID] = set()
    for reason, ids in by_reason.items():
        is_gone = reason is Reason.NO_REFERENCE_DATE
        state = JobState.CANCELLED if is_gone else JobState.SUPERSEDED
        for chunk in chunks(sorted(ids)):
            which = [ScheduledJob.id.in_(chunk)]
            ended.update(end_jobs(session, which, state, reason, now))
    return ended


def _verdicts(work: _Work, born: set[UUID]) -> Iterator[Verdict]:
    n_out_of_scope = 0
    for no in work.plan.noes:
        n_out_of_scope += no.reason is Reason.OUT_OF_SCOPE
        if no.reason is Reason.OUT_OF_SCOPE and n_out_of_scope > OUT_OF_SCOPE_MAX:
            continue
        yield verdict(
            no.rule,
            DecisionOutcome.NO,
            entity_id=no.entity.id,
            reason=no.reason,
            scheduled_job_id=no.job_id,
        )
    for job_id, wanted in work.wanted.items():
        # Not born: somebody else planned the same at the same moment.
        reason = wanted.reason if job_id in born else Reason.DUPLICATE
        yield verdict(
            wanted.rule,
            DecisionOutcome.NO if reason else DecisionOutcome.SCHEDULED,
            entity_id=wanted.entity.id,
            reason=reason,
            scheduled_job_id=job_id if job_id in born else None,
        )


#: Not the subject's business, so not counted as skipped.
_NOT_COUNTED = frozenset({Reason.OUT_OF_SCOPE, Reason.RULE_DISABLED})


def _result(work: _Work, born: set[UUID], ended: set[UUID]) -> ScheduleResult:
    pending = [
        job
        for job_id, job in work.wanted.items()
        if job_id in born and job.reason is None
    ]
    n_noes = sum(no.reason not in _NOT_COUNTED for no in work.plan.noes)
    n_refused = len(work.wanted) - len(pending)
    return ScheduleResult(
        success=True,
        jobs_created=len(pending),
        jobs_skipped=n_noes + n_refused + work.plan.n_undated,
        rule_ids=tuple(job.rule.id for job in pending),
        jobs_cancelled=sum(job_id in ended for job_id in work.plan.ended),
    )
