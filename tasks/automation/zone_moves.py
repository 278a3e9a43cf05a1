"""Another timezone of a congregation or podcast, and the jobs that go by local time.

What is more than ``AT_ONCE_MAX`` is written down as a ``ZoneMove``, and the lane
"replanning" does it piece by piece, as it does for changed rules.  Until its turn comes
a job stays as it is; one that comes due before is moved first (``take_along``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, literal_column, or_, select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.plans import time_rules
from tasks.automation.records import chunks
from tasks.automation.replan import Replanned, carry_out
from tasks.automation.subjects import of_jobs
from tasks.automation.triggers import TIME_TRIGGERS
from tasks.automation.zones import first_zone
from tasks.models.replan import ZoneMove
from tasks.models.rule import OffsetUnit, Rule
from tasks.models.scheduled_job import JobState, ScheduledJob

#: So many pending jobs of a congregation are planned within the operator's request.
AT_ONCE_MAX: Final = 1_000
LANE: Final = "replanning"
_IS_PENDING: Final = ScheduledJob.state == literal_column("'pending'")


def move_congregation(
    session: Session, congregation_id: UUID, was: str, *, now: datetime
) -> Replanned:
    """Plan what goes by a congregation's local time anew, at once if it is little.

    The congregation must be locked by the caller.  Flushes only.

    Args:
        was: the timezone that counted there until now.
    """
    move = ZoneMove(congregation_id=congregation_id, podcast_id="", was=was)
    return _move_all(session, move, now)


def move_podcast(
    session: Session, congregation_id: UUID, podcast_id: str, was: str, *, now: datetime
) -> Replanned:
    """Plan what goes by a podcast's local time anew, at once if it is little.

    The podcast must be locked by the caller.  Flushes only.

    Args:
        was: the timezone that counted there until now.
    """
    move = ZoneMove(congregation_id=congregation_id, podcast_id=podcast_id, was=was)
    return _move_all(session, move, now)


def is_moving(session: Session, congregation_id: UUID, podcast_id: str = "") -> bool:
    """Whether jobs have yet to be moved to the timezone of their record.

    Args:
        podcast_id: the podcast that moved; empty: the congregation did.
    """
    statement = select(ZoneMove.id).where(
        ZoneMove.congregation_id == congregation_id, ZoneMove.podcast_id == podcast_id
    )
    return session.scalars(statement.limit(1)).first() is not None


def take_along(session: Session, jobs: Sequence[ScheduledJob]) -> set[UUID]:
    """Move due jobs first whose congregation is moving; returns which are not due now.

    Their ``rule`` must be loaded.  One query on a nearly empty table, mostly.
    """
    moves = _open(session, sorted({job.congregation_id for job in jobs}))
    if not moves:
        return set()
    for move in moves:
        by_rule: dict[UUID, list[ScheduledJob]] = defaultdict(list)
        for job in jobs:
            if _is_before(job, move) and _counts_from_dates(job.rule):
                by_rule[job.rule_id].append(job)
        for late in by_rule.values():
            ids = [job.id for job in late]
            _move(session, late[0].rule, ids, move.was, move.since)
    # What keeps its instant goes out now, with what it has learned.
    return {job.id for job in jobs if job.state is not JobState.PENDING}


def work_off(session: Session, move: ZoneMove, *, limit: int) -> tuple[Replanned, bool]:
    """Move up to ``limit`` jobs; returns what came of it, and whether it is over.

    Lateness counts from the change, so that nobody loses a reminder because the lane
    was slow.  The move must be locked.
    """
    rows = session.execute(
        select(ScheduledJob.id, ScheduledJob.run_at, ScheduledJob.rule_id)
        .where(*_before_it(move))
        .order_by(ScheduledJob.run_at, ScheduledJob.id)
        .limit(limit)
    ).all()
    # First the rules: who changes one meanwhile waits, or we for them.
    rules = _locked(session, {rule_id for *_, rule_id in rows})
    moved = Replanned()
    for rule in rules.values():
        ids = [id_ for id_, _, rule_id in rows if rule_id == rule.id]
        moved += _move(session, rule, ids, move.was, move.since)
    if len(rows) < limit:
        return moved, True
    move.cursor_id, move.cursor_at, _ = rows[-1]
    return moved, False


def _move_all(session: Session, new: ZoneMove, now: datetime) -> Replanned:
    """Move what is pending there, or leave it to the lane where it is much."""
    some = select(ScheduledJob.id).where(*_is_there(new), _IS_PENDING)
    if len(session.scalars(some.limit(AT_ONCE_MAX + 1)).all()) <= AT_ONCE_MAX:
        return _move_pending(session, new, now)
    move = _same(session, new) or new
    session.add(move)
    move.since = move.touched_at = now
    move.cursor_at = move.cursor_id = None  # one that is open begins again
    session.flush()
    doorbell.ask(session, LANE)
    return Replanned(is_later=True)


def _move_pending(session: Session, move: ZoneMove, now: datetime) -> Replanned:
    moved = Replanned()
    for rule in time_rules(session, move.congregation_id):
        ids = session.scalars(
            select(ScheduledJob.id)
            .where(ScheduledJob.rule_id == rule.id, _IS_PENDING, *_is_there(move))
            .order_by(ScheduledJob.id)
        ).all()
        moved += _move(session, rule, ids, move.was, now)
    return moved


def _is_there(move: ZoneMove) -> list[ColumnElement[bool]]:
    """Return what tells the jobs of the congregation, or podcast, that moved."""
    of = [ScheduledJob.congregation_id == move.congregation_id]
    if move.podcast_id:
        of.append(ScheduledJob.podcast_id == move.podcast_id)
    return of


def _same(session: Session, new: ZoneMove) -> ZoneMove | None:
    """Return the open move of the same record from the same timezone."""
    names = ("congregation_id", "podcast_id", "was")
    wanted = {name: getattr(new, name) for name in names}
    return session.scalars(select(ZoneMove).filter_by(**wanted)).one_or_none()


def _move(
    session: Session, rule: Rule, ids: Sequence[UUID], was: str, now: datetime
) -> Replanned:
    """Tell jobs of a rule their timezone; what goes by local time is planned anew."""
    is_local = rule.offset_unit == OffsetUnit.DAYS or rule.quiet_from is not None
    moved = Replanned()
    for chunk in chunks(ids):
        jobs = session.scalars(
            select(ScheduledJob).where(ScheduledJob.id.in_(chunk), _IS_PENDING)
        ).all()
        subjects = of_jobs(session, jobs, was=first_zone(was))
        for job, subject in zip(jobs, subjects, strict=True):
            job.timezone = subject.timezone
        session.flush()
        if is_local:
            moved += carry_out(session, rule, subjects, now)
    return moved


def _open(session: Session, of: Sequence[UUID]) -> Sequence[ZoneMove]:
    wanted = select(ZoneMove).where(ZoneMove.congregation_id.in_(of))
    return session.scalars(wanted.order_by(ZoneMove.since)).all()


def _is_before(job: ScheduledJob, move: ZoneMove) -> bool:
    """Whether a job may have been planned before the move; the same as ``_before_it``.

    Of the others only those count that somebody planned who had not heard of it yet.
    """
    is_there = job.congregation_id == move.congregation_id
    if move.podcast_id:
        is_there = is_there and job.podcast_id == move.podcast_id
    return is_there and (job.timezone == move.was or job.created_at < move.since)


def _before_it(move: ZoneMove) -> Iterator[ColumnElement[bool]]:
    yield from _is_there(move)
    yield _IS_PENDING
    is_old = ScheduledJob.created_at < move.since
    yield or_(ScheduledJob.timezone == move.was, is_old)
    if move.cursor_at is not None:
        yield ScheduledJob.run_at >= move.cursor_at
        is_later = ScheduledJob.run_at > move.cursor_at
        yield or_(is_later, ScheduledJob.id > move.cursor_id)


def _counts_from_dates(rule: Rule) -> bool:
    return rule.trigger_type in TIME_TRIGGERS and rule.deleted_at is None


def _locked(session: Session, ids: set[UUID]) -> dict[UUID, Rule]:
    """Lock the rules among these that count from dates, deleted ones left out."""
    rows = session.scalars(
        select(Rule)
        .where(
            Rule.id.in_(ids),
            Rule.trigger_type.in_(TIME_TRIGGERS),
            Rule.deleted_at.is_(None),
        )
        .order_by(Rule.id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return {rule.id: rule for rule in rows}
