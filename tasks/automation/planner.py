"""Which scheduled jobs an entity's dates and rules ask for.  Pure: no database.

``plan`` compares what should be with the jobs that are there; ``plans`` carries the
answer out.  So planning again changes nothing, and every change of a date, of a rule
or of a booking ends in exactly the jobs that it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from tasks.automation.keys import Entity, Ids, entity_of, time_key
from tasks.automation.lateness import due_at, timing
from tasks.automation.quiet import Clocks, opening
from tasks.automation.results import UNSET, Unset
from tasks.automation.triggers import TRIGGERS, Reference
from tasks.models.reason import Reason
from tasks.models.rule import Rule
from tasks.models.scheduled_job import JobState

Date = datetime | None | Unset


@dataclass(frozen=True, slots=True)
class Subject:
    """What is planned for: its ids, its dates, the timezone of calendar days.

    A date that is ``UNSET`` is not talked about: its jobs stay as they are.
    """

    congregation_id: UUID
    ids: Ids
    dates: Mapping[Reference, Date]
    timezone: str
    host_timezone: str = "UTC"  # the podcast's own, for quiet hours


@dataclass(frozen=True, slots=True)
class Existing:
    """A scheduled job that is there."""

    id: UUID
    rule_id: UUID
    trigger_type: str
    ids: Ids
    key: str
    due_at: datetime
    run_at: datetime
    timezone: str
    state: JobState


@dataclass(frozen=True, slots=True)
class Wanted:
    """A job to make: pending, or skipped with the reason why it is not to run."""

    rule: Rule
    subject: Subject
    entity: Entity
    key: str
    reference_at: datetime
    due_at: datetime
    run_at: datetime  # due_at, or when the quiet hours end that it lies in
    reason: Reason | None = None  # None: pending


@dataclass(frozen=True, slots=True)
class No:
    """A rule that leads to no new job; ``job_id`` is the one that is there already."""

    rule: Rule
    entity: Entity
    reason: Reason
    job_id: UUID | None = None


@dataclass(slots=True)
class Plan:
    """What is to change for one subject."""

    wanted: list[Wanted] = field(default_factory=list)
    noes: list[No] = field(default_factory=list)
    ended: dict[UUID, Reason] = field(default_factory=dict)  # pending jobs to end
    n_undated: int = 0  # rules that count from a date that is not talked about


#: A dispatched job was done and a missed one was given up; neither is made again.
_DONE: Final = frozenset({JobState.DISPATCHED, JobState.MISSED})


def plan(
    subject: Subject,
    rules: Iterable[Rule],
    existing: Sequence[Existing],
    *,
    now: datetime,
) -> Plan:
    """Return what is to change so that the rules' jobs are as they should be.

    Args:
        rules: the time rules of the congregation that are not deleted.
        existing: the subject's jobs in every state.
    """
    made = Plan()
    for rule in rules:
        _plan_rule(made, subject, rule, existing, now)
    return made


def _plan_rule(
    made: Plan,
    subject: Subject,
    rule: Rule,
    existing: Sequence[Existing],
    now: datetime,
) -> None:
    entity = entity_of(rule.trigger_type, subject.ids)
    ours = [
        job
        for job in existing
        if job.rule_id == rule.id and entity_of(job.trigger_type, job.ids) == entity
    ]
    pending = [job for job in ours if job.state is JobState.PENDING]
    date = subject.dates.get(_reference(rule), UNSET)
    is_in_scope = rule.covers(subject.ids.podcast_id)
    if isinstance(date, Unset):
        made.n_undated += is_in_scope and rule.enabled
    elif not is_in_scope:
        made.noes.append(No(rule, entity, Reason.OUT_OF_SCOPE))
        _end(made, pending, Reason.RULE_CHANGED)
    elif date is None:
        made.noes.append(No(rule, entity, Reason.NO_REFERENCE_DATE))
        _end(made, pending, Reason.NO_REFERENCE_DATE)
    elif not rule.enabled and not pending:
        made.noes.append(No(rule, entity, Reason.RULE_DISABLED))
    else:
        # The jobs of a rule that is off go along with their date: the guard stops
        # them, unless it is switched on in time.
        _reconcile(made, _want(subject, rule, entity, date, now), ours, now)


def _reference(rule: Rule) -> Reference:
    reference = TRIGGERS[rule.trigger_type].reference
    if reference is None:
        raise ValueError(f"{rule.trigger_type} counts from no date")
    return reference


def _want(
    subject: Subject, rule: Rule, entity: Entity, date: datetime, now: datetime
) -> Wanted:
    when = timing(rule, TRIGGERS[rule.trigger_type], date, subject.timezone, now)
    key = time_key(rule, entity, date)
    clocks = Clocks(guest=subject.timezone, host=subject.host_timezone)
    run_at = opening(rule, when.due_at, clocks, date)
    return Wanted(rule, subject, entity, key, date, when.due_at, run_at, when.reason)


def _reconcile(
    made: Plan, wanted: Wanted, ours: Sequence[Existing], now: datetime
) -> None:
    pending = [job for job in ours if job.state is JobState.PENDING]
    kept = next((job for job in pending if _serves(job, wanted, now)), None)
    done = next((job for job in ours if _settles(job, wanted)), None)
    _end(made, [job for job in pending if job is not kept], Reason.SUPERSEDED)
    there = kept or done
    if there is None:
        made.wanted.append(wanted)
    else:
        made.noes.append(No(wanted.rule, wanted.entity, Reason.DUPLICATE, there.id))


def _serves(job: Existing, wanted: Wanted, now: datetime) -> bool:
    """Whether a pending job is the wanted one, so that it stays."""
    promised = due_at(wanted.rule, wanted.reference_at, wanted.subject.timezone)
    return (
        job.key == wanted.key
        # A promise that has passed was planned "at once"; that instant is behind us.
        and (job.due_at == promised or promised < now)
        # An operator's "run now" is not taken back.
        and (job.run_at == wanted.run_at or job.run_at <= now)
        and (job.timezone, job.ids) == (wanted.subject.timezone, wanted.subject.ids)
    )


def _settles(job: Existing, wanted: Wanted) -> bool:
    """Whether an ended job means that the wanted one is not to be made again."""
    if job.key != wanted.key:
        return False
    return job.state in _DONE or (
        job.state is JobState.SKIPPED and wanted.reason is not None
    )


def _end(made: Plan, jobs: Iterable[Existing], reason: Reason) -> None:
    made.ended.update({job.id: reason for job in jobs})
