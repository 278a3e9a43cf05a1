"""What a change of a rule would do to its jobs, asked before anything is written.

The answer comes from the planner that does it afterwards, on the same rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import literal_column, select
from sqlalchemy.orm import Session

from tasks.automation.following import calendar_piece
from tasks.automation.jobs import existing_jobs
from tasks.automation.keys import Entity, Ids, entity_of
from tasks.automation.planner import Existing, Plan, Subject, plan
from tasks.automation.records import CHUNK, chunks
from tasks.automation.replan import as_if, subjects_of
from tasks.automation.triggers import TRIGGERS
from tasks.models.reason import Reason
from tasks.models.rule import Rule
from tasks.models.scheduled_job import JobState, ScheduledJob

#: So many jobs, and so many dates of the calendar, are looked at; "or more" then.
LOOKED_AT_MAX: Final = 5_000
#: So many are shown of each kind, the soonest first.
EXAMPLES: Final = 5


@dataclass(frozen=True, slots=True)
class Fate:
    """What would become of one job."""

    ids: Ids
    timezone: str  # in which its times are shown
    before: datetime | None  # when it would have run; None: there is none yet
    after: datetime | None  # when it is to run; None: it ends
    reason: Reason | None = None  # why it ends, if the planner says so


@dataclass(slots=True)
class Impact:
    """What would become of a rule's jobs."""

    created: list[Fate] = field(default_factory=list)
    moved: list[Fate] = field(default_factory=list)
    ended: list[Fate] = field(default_factory=list)
    n_kept: int = 0
    is_capped: bool = False  # there are more than were looked at

    @property
    def is_any(self) -> bool:
        """Whether any job is made, moved or ended."""
        return bool(self.created or self.moved or self.ended)


def impact_of(
    session: Session,
    rule: Rule,
    *,
    now: datetime,
    moves: bool,
    also_coming: bool,
    was: Rule | None = None,
) -> Impact:
    """Return what saving would do to the jobs; reads only.

    Args:
        rule: the rule as it would be saved; no session needs to know it.
        moves: whether the change moves the jobs that are planned.
        also_coming: whether the calendar would be planned, too.
        was: the rule as it is; None: it is new.
    """
    acting = as_if(rule, enabled=True)
    made = Impact()
    jobs = _pending(session, was) if was is not None and moves else []
    made.is_capped = len(jobs) > LOOKED_AT_MAX
    planned = _plans(session, acting, jobs[:LOOKED_AT_MAX], now)
    _tell_fates(made, jobs[:LOOKED_AT_MAX], planned)
    if also_coming and TRIGGERS[acting.trigger_type].is_time:
        _add_coming(session, made, acting, planned.keys(), now, moves=moves)
    for fates in (made.created, made.moved, made.ended):
        fates.sort(key=_place)
    return made


def _place(fate: Fate) -> tuple[datetime | None, str, str]:
    ids = fate.ids
    return fate.before or fate.after, ids.booking_id or "", ids.episode_id or ""


def _pending(session: Session, rule: Rule) -> Sequence[ScheduledJob]:
    return session.scalars(
        select(ScheduledJob)
        .where(
            ScheduledJob.rule_id == rule.id,
            ScheduledJob.state == literal_column("'pending'"),
        )
        .order_by(ScheduledJob.run_at, ScheduledJob.id)
        .limit(LOOKED_AT_MAX + 1)
    ).all()


def _plans(
    session: Session, rule: Rule, jobs: Sequence[ScheduledJob], now: datetime
) -> dict[Entity, tuple[Subject, Plan]]:
    """Plan anew what the jobs are about, as if they were ended."""
    if not TRIGGERS[rule.trigger_type].is_time:
        return {}
    subjects = subjects_of(session, rule, jobs, now)
    return {
        entity_of(rule.trigger_type, subject.ids): (subject, made)
        for subject, made in _planned(session, rule, subjects, now, moves=True)
    }


def _planned(
    session: Session,
    rule: Rule,
    subjects: Sequence[Subject],
    now: datetime,
    *,
    moves: bool,
) -> Iterator[tuple[Subject, Plan]]:
    for chunk in chunks(subjects):
        existing = existing_jobs(session, chunk, locks=False)
        for subject in chunk:
            jobs = existing(subject.ids)
            kept = [job for job in jobs if not (moves and _is_open(job, rule))]
            yield subject, plan(subject, [rule], kept, now=now)


def _is_open(job: Existing, rule: Rule) -> bool:
    return job.rule_id == rule.id and job.state is JobState.PENDING


def _tell_fates(
    made: Impact,
    jobs: Sequence[ScheduledJob],
    planned: dict[Entity, tuple[Subject, Plan]],
) -> None:
    met: set[Entity] = set()
    for job in jobs:
        ids = Ids(job.podcast_id, job.episode_id, job.booking_id, job.guest_id)
        entity = entity_of(job.trigger_type, ids)
        found = planned.get(entity)
        is_first = entity not in met
        met.add(entity)
        after, reason = _outcome(found[1] if found and is_first else Plan())
        if after is None:
            made.ended.append(Fate(ids, job.timezone, job.run_at, None, reason))
        elif after == job.run_at:
            made.n_kept += 1
        else:
            made.moved.append(Fate(ids, job.timezone, job.run_at, after))
    for entity, (subject, new) in planned.items():
        if entity not in met:  # the rule counts from something else now
            _add(made, subject, new)


def _add_coming(
    session: Session,
    made: Impact,
    rule: Rule,
    met: Collection[Entity],
    now: datetime,
    *,
    moves: bool,
) -> None:
    """Add what the calendar would get; ``met`` was planned already."""
    cursor: str | None = None
    for _ in range(LOOKED_AT_MAX // CHUNK):
        subjects, cursor = calendar_piece(session, rule, now, cursor, CHUNK)
        for subject, new in _planned(session, rule, subjects, now, moves=moves):
            if entity_of(rule.trigger_type, subject.ids) not in met:
                _add(made, subject, new)
        if cursor is None:
            return
    made.is_capped = True


def _add(made: Impact, subject: Subject, new: Plan) -> None:
    after, _ = _outcome(new)
    if after is not None:
        made.created.append(Fate(subject.ids, subject.timezone, None, after))


def _outcome(made: Plan) -> tuple[datetime | None, Reason | None]:
    """Return when the one rule's job would run, or why there would be none."""
    for wanted in made.wanted:
        return (None, wanted.reason) if wanted.reason else (wanted.run_at, None)
    return None, next((no.reason for no in made.noes), None)
