"""Reminders of one thing that are overdue together: only the latest is of use.

A series are the mails of before-rules to one recipient about one date of one booking
or episode.  Whoever takes which of them first, and in however many batches, the one
that was promised last goes out, and those before it end as superseded: jobs that wait
as well as executions that have not gone out yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, and_, literal_column, or_, select, update
from sqlalchemy.orm import Session, contains_eager

from tasks.automation.keys import Entity, Ids, entity_of
from tasks.automation.lateness import due_at
from tasks.automation.records import chunks
from tasks.automation.triggers import TRIGGERS
from tasks.locks import in_order
from tasks.lookups import among_keys
from tasks.models.execution import Execution, ExecutionState
from tasks.models.reason import Reason
from tasks.models.scheduled_job import JobState, ScheduledJob

_BEFORE = tuple(row.name for row in TRIGGERS.values() if row.direction < 0)


@dataclass(frozen=True, slots=True)
class Series:
    """What the reminders of one series have in common."""

    congregation_id: UUID
    trigger_type: str
    entity: Entity
    reference_at: datetime
    recipient: str  # "guest", "host", or the address


def series_of(job: ScheduledJob) -> Series | None:
    """Return the series a job belongs to; ``None``: it is no reminder."""
    if job.trigger_type not in _BEFORE or job.rule.action != "email":
        return None
    to = job.rule.settings.get("recipient", "")
    address = job.rule.settings.get("address", "") if to == "fixed" else to
    ids = Ids(job.podcast_id, job.episode_id, job.booking_id, job.guest_id)
    return Series(
        job.congregation_id,
        job.trigger_type,
        entity_of(job.trigger_type, ids),
        job.reference_at,
        str(address).strip().casefold(),
    )


def promised_at(job: ScheduledJob) -> datetime:
    """Return when the rule's offset lies, also for a job that was planned "at once"."""
    return due_at(job.rule, job.reference_at, job.timezone)


def siblings(
    session: Session, jobs: Sequence[ScheduledJob], now: datetime
) -> list[ScheduledJob]:
    """Return what is due or was dispatched of the jobs' series, without themselves.

    Three queries at most for up to 500 jobs, none when no reminder is among them.
    """
    series = {each for job in jobs if (each := series_of(job))}
    known = {job.id for job in jobs}
    found: dict[UUID, ScheduledJob] = {}
    for kind in ("booking", "episode", "podcast"):
        places = {
            (s.congregation_id, s.entity.id) for s in series if s.entity.kind == kind
        }
        for chunk in chunks(sorted(places)):
            rows = session.scalars(
                select(ScheduledJob)
                .join(ScheduledJob.rule)
                .options(contains_eager(ScheduledJob.rule))
                .where(_about(session, kind, chunk), _is_under_way(now))
            )
            found.update({row.id: row for row in rows if row.id not in known})
    return [job for job in found.values() if series_of(job) in series]


def _about(
    session: Session, kind: str, places: Sequence[tuple[UUID, str]]
) -> ColumnElement[bool]:
    job = ScheduledJob
    columns = {
        "booking": job.booking_id,
        "episode": job.episode_id,
        "podcast": job.podcast_id,
    }
    named = among_keys(session, (job.congregation_id, columns[kind]), places)
    if kind != "podcast":
        return named
    return and_(named, job.booking_id.is_(None), job.episode_id.is_(None))


def _is_under_way(now: datetime) -> ColumnElement[bool]:
    job = ScheduledJob
    is_due = and_(job.state == literal_column("'pending'"), job.run_at <= now)
    return and_(
        job.trigger_type.in_(_BEFORE),
        or_(is_due, job.state == literal_column("'dispatched'")),
    )


def superseded(
    going: Iterable[ScheduledJob], others: Iterable[ScheduledJob]
) -> set[UUID]:
    """Return which of the jobs have a later reminder of their series among all.

    Args:
        going: jobs that would be dispatched, here or in another batch.
        others: jobs that were dispatched.
    """
    latest: dict[Series, datetime] = {}
    all_of = [(job, each) for job in (*going, *others) if (each := series_of(job))]
    for job, series in all_of:
        at = promised_at(job)
        latest[series] = max(at, latest.get(series, at))
    return {job.id for job, series in all_of if promised_at(job) < latest[series]}


def overtake(
    session: Session,
    going: Iterable[ScheduledJob],
    others: Iterable[ScheduledJob],
    now: datetime,
) -> None:
    """Cancel earlier reminders that became executions and have not gone out yet."""
    latest: dict[Series, datetime] = {}
    for job in going:
        if series := series_of(job):
            at = promised_at(job)
            latest[series] = max(at, latest.get(series, at))
    ids = [
        job.execution_id
        for job in others
        if job.state is JobState.DISPATCHED
        and job.execution_id is not None
        and (series := series_of(job)) in latest
        and promised_at(job) < latest[series]
    ]
    for chunk in chunks(sorted(ids)):
        session.execute(
            update(Execution)
            .where(
                *in_order(
                    session,
                    Execution,
                    Execution.id.in_(chunk),
                    Execution.state == literal_column("'pending'"),
                )
            )
            .values(
                state=ExecutionState.CANCELLED,
                reason=Reason.SUPERSEDED,
                settled_at=now,
            )
            .execution_options(synchronize_session=False)
        )
