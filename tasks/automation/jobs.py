"""The rows of scheduled jobs: finding, ending and inserting them in batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Result,
    and_,
    literal_column,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.orm import Session

from tasks.automation.context import Case, context_of
from tasks.automation.keys import Ids
from tasks.automation.planner import Existing, Subject, Wanted
from tasks.automation.records import chunks, load_records
from tasks.automation.upsert import insert_new
from tasks.bulk import among_rows, insert_many, is_postgres
from tasks.locks import in_order
from tasks.models.reason import Reason
from tasks.models.scheduled_job import JobContext, JobState, ScheduledJob
from tasks.young_tables import let_know

_IS_PENDING: Final = text("state = 'pending'")
_CONTEXTS: Final = JobContext.metadata.tables[JobContext.__tablename__]


class Jobs:
    """The jobs of a batch, found by any of their ids."""

    def __init__(self, jobs: Iterable[Existing]) -> None:
        self._by: dict[tuple[str, str | None], list[Existing]] = defaultdict(list)
        for job in jobs:
            for place in _places(job.ids):
                self._by[place].append(job)

    def __call__(self, ids: Ids) -> list[Existing]:
        found = {job.id: job for place in _places(ids) for job in self._by[place]}
        return list(found.values())


def _places(ids: Ids) -> list[tuple[str, str | None]]:
    places = [("booking", ids.booking_id), ("episode", ids.episode_id)]
    return [place for place in places if place[1]] or [("podcast", ids.podcast_id)]


def existing_jobs(
    session: Session, subjects: Sequence[Subject], *, locks: bool = True
) -> Jobs:
    """Read the subjects' jobs in every state, and lock the pending ones.

    Locked first: a job that is being dispatched right now is then read as dispatched.

    Args:
        locks: false for who only wants to know what would become of them.
    """
    found: dict[UUID, Existing] = {}
    of = subjects[0].congregation_id
    places = {place for each in subjects for place in _places(each.ids)}
    abouts = [
        and_(ScheduledJob.congregation_id == of, _about(session, kind, chunk))
        for kind in ("booking", "episode", "podcast")
        for chunk in chunks(sorted(n for what, n in places if what == kind and n))
    ]
    if locks:
        _lock_pending(session, abouts)
    for about in abouts:
        found.update({job.id: job for job in _read(session, about)})
    return Jobs(found.values())


def _lock_pending(session: Session, abouts: Sequence[ColumnElement[bool]]) -> None:
    """Lock the pending jobs of all kinds together, by id: others want some of them."""
    if not is_postgres(session):
        return  # SQLite has one writer, and we are it
    job, is_pending = ScheduledJob, ScheduledJob.state == literal_column("'pending'")
    # Not with OR, for which neither index would do.
    each = [select(job.id).where(about, is_pending) for about in abouts]
    named = job.id.in_(union_all(*each)) if len(each) > 1 else abouts[0]
    session.execute(
        select(job.id)
        .where(named, is_pending)
        .order_by(job.id)
        .with_for_update(key_share=True)
    ).all()


def _about(session: Session, kind: str, ids: Sequence[str]) -> ColumnElement[bool]:
    if kind == "booking":
        return among_rows(session, ScheduledJob.booking_id, ids)
    if kind == "episode":
        return among_rows(session, ScheduledJob.episode_id, ids)
    return and_(
        among_rows(session, ScheduledJob.podcast_id, ids),
        ScheduledJob.booking_id.is_(None),
        ScheduledJob.episode_id.is_(None),
    )


def _read(session: Session, about: ColumnElement[bool]) -> Iterable[Existing]:
    job = ScheduledJob
    rows: Result[Any] = session.execute(
        select(
            *(job.id, job.rule_id, job.trigger_type, job.podcast_id, job.episode_id),
            *(job.booking_id, job.guest_id, job.idempotency_key),
            *(job.due_at, job.run_at, job.timezone, job.state),
        ).where(about)
    )
    for row in rows:
        yield Existing(
            id=row.id,
            rule_id=row.rule_id,
            trigger_type=row.trigger_type,
            ids=Ids(row.podcast_id, row.episode_id, row.booking_id, row.guest_id),
            key=row.idempotency_key,
            due_at=row.due_at,
            run_at=row.run_at,
            timezone=row.timezone,
            state=row.state,
        )


def end_jobs(
    session: Session,
    which: Sequence[ColumnElement[bool]],
    state: JobState,
    reason: Reason,
    now: datetime,
) -> Sequence[UUID]:
    """End the pending jobs that match all of ``which``; returns their ids."""
    is_pending = ScheduledJob.state == literal_column("'pending'")
    return session.scalars(
        update(ScheduledJob)
        .where(*in_order(session, ScheduledJob, *which, is_pending))
        .values(state=state, reason=reason, settled_at=now)
        .returning(ScheduledJob.id)
        .execution_options(synchronize_session="fetch")
    ).all()


def insert_jobs(
    session: Session, wanted: Sequence[tuple[UUID, Wanted]], now: datetime
) -> set[UUID]:
    """Insert the wanted jobs under the given ids; returns the ids that are new."""
    ordered = sorted(wanted, key=lambda each: each[1].key)
    born = insert_new(
        session,
        ScheduledJob,
        [_columns(job_id, each, now) for job_id, each in ordered],
        unique=("congregation_id", "idempotency_key"),
        among=_IS_PENDING,
    )
    let_know(session, len(born))
    cases = {job_id: _case(each.subject) for job_id, each in ordered if job_id in born}
    records = load_records(session, list(cases.values()))
    snapshots = [
        {
            "scheduled_job_id": job_id,
            "congregation_id": case.congregation_id,
            "context": context_of(case, records),
        }
        for job_id, case in cases.items()
    ]
    insert_many(session, _CONTEXTS, snapshots)
    return born


def _columns(job_id: UUID, wanted: Wanted, now: datetime) -> dict[str, object]:
    ids, reason = wanted.subject.ids, wanted.reason
    return {
        "id": job_id,
        "congregation_id": wanted.subject.congregation_id,
        "rule_id": wanted.rule.id,
        "rule_version": wanted.rule.version,
        "trigger_type": wanted.rule.trigger_type,
        "podcast_id": ids.podcast_id,
        "episode_id": ids.episode_id,
        "booking_id": ids.booking_id,
        "guest_id": ids.guest_id,
        "idempotency_key": wanted.key,
        "reference_at": wanted.reference_at,
        "timezone": wanted.subject.timezone,
        "state": JobState.SKIPPED if reason else JobState.PENDING,
        "due_at": wanted.due_at,
        "run_at": wanted.run_at,
        "reason": reason,
        "settled_at": now if reason else None,
        "created_at": now,
    }


def _case(subject: Subject) -> Case:
    ids = subject.ids
    return Case(
        subject.congregation_id,
        ids.podcast_id,
        ids.episode_id,
        ids.booking_id,
        ids.guest_id,
    )
