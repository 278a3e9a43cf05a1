"""A rule that changed takes its jobs along: at once if they are few, else in pieces.

Many thousand jobs would keep an operator's page and its transaction waiting.  So what
is more than ``AT_ONCE_MAX`` is written down as a ``Replan``, and the lane "replanning"
does it piece by piece.  Until its turn comes a job stays as it is, except that it is
not dispatched: one that comes due is planned anew first (``take_along``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.calendar import (
    bookings_of,
    episodes_of,
    is_ahead,
    n_within_reach,
)
from tasks.automation.planner import Subject
from tasks.automation.replan import (
    Replanned,
    carry_out,
    move_jobs,
    outdated,
    plan_coming,
)
from tasks.automation.subjects import booked_among, of_bookings, of_episodes
from tasks.automation.triggers import TRIGGERS
from tasks.automation.zone_moves import take_along as take_to_their_zone
from tasks.bulk import is_postgres
from tasks.models.booking import Booking
from tasks.models.episode import Episode
from tasks.models.replan import Replan
from tasks.models.rule import Rule
from tasks.models.scheduled_job import ScheduledJob

#: So many jobs, or dates in the calendar, are planned within the operator's request.
AT_ONCE_MAX: Final = 1_000
LANE: Final = "replanning"
#: Longer than any transaction of a producer that plans.
LEFT_WITHIN: Final = timedelta(minutes=10)


def follow(
    session: Session,
    rule: Rule,
    *,
    now: datetime,
    also_coming: bool = False,
    at_once: bool = True,
) -> Replanned:
    """Plan a saved rule's outdated jobs anew, and with ``also_coming`` the calendar.

    What is too much for one request is left to the lane; ``Replanned.is_later`` then
    says so.  The rule must be locked by the caller.

    Args:
        at_once: false where many rules change together: the lane does it all.
    """
    open_ = session.get(Replan, rule.id)
    is_moved = rule.plan_version == rule.version  # by the saving that asks
    if open_ is not None and not (is_moved or also_coming):
        return Replanned(is_later=True)
    n_work = _n_work(session, rule, now, also_coming=also_coming)
    if open_ is not None or n_work > (AT_ONCE_MAX if at_once else 0):
        return _leave(session, rule, now, also_coming=also_coming)
    jobs = session.scalars(select(ScheduledJob).where(*outdated(rule))).all()
    done = move_jobs(session, rule, jobs, now=now)
    return done + plan_coming(session, rule, now=now) if also_coming else done


def take_along(session: Session, jobs: Sequence[ScheduledJob]) -> set[UUID]:
    """Plan those due jobs anew whose rule or timezone changed since; returns which.

    Their ``rule`` must be loaded.  Most batches have none, and cost next to nothing.
    """
    late: dict[UUID, list[ScheduledJob]] = defaultdict(list)
    for job in jobs:
        if job.rule_version < job.rule.plan_version:
            late[job.rule_id].append(job)
    for rule_id, some in late.items():
        open_ = session.get(Replan, rule_id)
        since = open_.since if open_ else some[0].rule.updated_at
        move_jobs(session, some[0].rule, some, now=since)
    moved = {job.id for some in late.values() for job in some}
    rest = [job for job in jobs if job.id not in moved]
    return moved | take_to_their_zone(session, rest)


def work_off(session: Session, open_: Replan, rule: Rule, *, limit: int) -> bool:
    """Do up to ``limit`` of an open planning; returns whether that was the last piece.

    Jobs first, then the calendar.  Lateness counts from the change of the rule, so
    that nobody loses a reminder because the lane was slow.  The rule must be locked.
    """
    jobs = session.scalars(
        select(ScheduledJob)
        .where(*outdated(rule))
        .order_by(ScheduledJob.id)
        .limit(limit)
    ).all()
    if jobs:
        _count(open_, move_jobs(session, rule, jobs, now=open_.since))
        return False
    if not open_.also_coming or not TRIGGERS[rule.trigger_type].is_time:
        return True
    since, cursor = open_.since, open_.cursor
    subjects, open_.cursor = calendar_piece(session, rule, since, cursor, limit)
    _count(open_, carry_out(session, rule, subjects, open_.since))
    return open_.cursor is None


def left_behind(session: Session, now: datetime) -> Rule | None:
    """Open the planning of a rule whose jobs a change of it did not meet; locks it.

    Somebody planned them by the rule as it was, and committed after the change looked.
    SQLite has one writer at a time, so there are none.
    """
    if not is_postgres(session):
        return None
    rule = session.scalars(
        select(Rule)
        .where(
            Rule.updated_at > now - LEFT_WITHIN,
            Rule.deleted_at.is_(None),
            select(ScheduledJob.id).where(*outdated(Rule)).exists(),
            ~select(Replan.rule_id).where(Replan.rule_id == Rule.id).exists(),
        )
        .order_by(Rule.id)
        .limit(1)
        .with_for_update(key_share=True, skip_locked=True)
        .execution_options(populate_existing=True)
    ).first()
    if rule is not None:
        _leave(session, rule, now, also_coming=False)
    return rule


def _n_work(session: Session, rule: Rule, now: datetime, *, also_coming: bool) -> int:
    """Return how much there is to plan; counting stops when it is much."""
    some = select(ScheduledJob.id).where(*outdated(rule)).limit(AT_ONCE_MAX + 1)
    n_jobs = len(session.scalars(some).all())
    if not also_coming:
        return n_jobs
    return n_jobs + n_within_reach(session, rule, now, AT_ONCE_MAX + 1)


def _leave(
    session: Session, rule: Rule, now: datetime, *, also_coming: bool
) -> Replanned:
    """Write down what is to be planned; a planning that is open begins again."""
    open_ = session.get(Replan, rule.id)
    if open_ is None:
        open_ = Replan(rule_id=rule.id, congregation_id=rule.congregation_id)
        session.add(open_)
    open_.since = open_.touched_at = now
    open_.also_coming = bool(open_.also_coming) or also_coming
    open_.cursor, open_.n_created, open_.n_ended = None, 0, 0
    session.flush()
    doorbell.ask(session, LANE)
    return Replanned(is_later=True)


def _count(open_: Replan, done: Replanned) -> None:
    open_.n_created += done.n_created
    open_.n_ended += done.n_cancelled


def calendar_piece(
    session: Session, rule: Rule, now: datetime, after: str | None, limit: int
) -> tuple[list[Subject], str | None]:
    """Return a piece of what is ahead in the calendar, and the cursor behind it.

    Bookings come first, then episodes, each by its id.

    Args:
        after: the cursor of the piece before; None: begin.

    Returns:
        The subjects, and the cursor; None: nothing comes after.
    """
    kind, _, last = (after or "booking:").partition(":")
    bookings = bookings_of(rule, now) if kind == "booking" else None
    episodes = episodes_of(rule, now)
    subjects: list[Subject] = []
    if bookings is not None:
        page = bookings.where(Booking.id > last).order_by(Booking.id).limit(limit)
        rows = session.scalars(page).all()
        subjects = of_bookings(session, rows)
        cursor = f"booking:{rows[-1].id}" if len(rows) == limit else "episode:"
    elif episodes is not None:
        last = last if kind == "episode" else ""
        following = episodes.where(Episode.id > last).order_by(Episode.id).limit(limit)
        found = session.scalars(following).all()
        subjects = of_episodes(session, found, booked_among(session, found))
        cursor = f"episode:{found[-1].id}" if len(found) == limit else ""
    else:
        return [], None
    ahead = [each for each in subjects if is_ahead(each, rule, now)]
    return ahead, cursor or None
