"""Campaign: campaigns start and end when their congregation's day has come.

Fed by time alone: a campaign's window, and the local day of its congregation, so that
each one flips just after its own midnight.  Once a day, at an hour in UTC, every
congregation is looked over besides, so that what failed or was missed shows.  Shape:
one transaction for each congregation.  A worker that dies leaves it due; one that
fails is told on its page, and holds up no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import daily
from tasks.automation.zones import first_zone, instant_of
from tasks.congregation.campaigns import transitions
from tasks.congregation.campaigns.transitions import Moved
from tasks.congregation.days import local_day
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models import Campaign, Congregation
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work

NAME: Final = "campaign"


@dataclass(frozen=True, slots=True)
class CampaignSweep:
    """What one sweep did, as ids of campaigns, and of congregations."""

    activated: tuple[UUID, ...] = ()
    ended: tuple[UUID, ...] = ()
    missed: tuple[UUID, ...] = ()
    looked_over: tuple[UUID, ...] = ()  # congregations, once a day
    failed: tuple[UUID, ...] = ()  # congregations
    trouble: str = ""
    is_full: bool = False


@dataclass(slots=True)
class _Round:
    """What a sweep has done so far."""

    moved: list[Moved] = field(default_factory=list)
    looked_over: list[UUID] = field(default_factory=list)
    failed: list[tuple[UUID, str]] = field(default_factory=list)


def sweep(bench: Bench, limit: int) -> CampaignSweep:
    """Move the campaigns of up to ``limit`` congregations on."""
    now, hour = bench.clock(), bench.timing.campaign_hour
    with bench.begin() as session:
        flipping = _flipping(session, now)
        striking = set(daily.due(session, NAME, hour=hour, now=now, limit=limit))
    todo = list(dict.fromkeys([*flipping, *sorted(striking)]))
    done = _Round()
    for congregation_id in todo[:limit]:
        if bench.stopping.is_set():
            break
        _one(bench, done, congregation_id, is_daily=congregation_id in striking)
    return CampaignSweep(
        activated=tuple(id_ for each in done.moved for id_ in each.activated),
        ended=tuple(id_ for each in done.moved for id_ in each.ended),
        missed=tuple(id_ for each in done.moved for id_ in each.missed),
        looked_over=tuple(done.looked_over),
        failed=tuple(id_ for id_, _ in done.failed),
        trouble=daily.trouble(done.failed),
        is_full=len(todo) > limit or len(striking) == limit,
    )


def _one(bench: Bench, done: _Round, congregation_id: UUID, *, is_daily: bool) -> None:
    """Move one congregation's campaigns on, in a transaction of its own."""
    now, hour = bench.clock(), bench.timing.campaign_hour

    def act() -> None:
        with bench.begin() as session:
            moved = transitions.move(session, congregation_id, now)
            note_work(session, NAME, _work(session, congregation_id, moved, now), now)
            daily.mark_done(session, NAME, congregation_id, hour=hour, now=now)
        done.moved.append(moved)

    if error := daily.isolated(bench, NAME, congregation_id, act):
        done.failed.append((congregation_id, error))
    elif is_daily:
        done.looked_over.append(congregation_id)


def _work(session: Session, of: UUID, moved: Moved, now: datetime) -> Iterator[Work]:
    """Yield what was done to campaigns, which waited since their midnight."""
    if moved.is_empty:
        return
    zone = session.get_one(Congregation, of).timezone
    ids = [*moved.activated, *moved.ended, *moved.missed]
    for row in session.scalars(select(Campaign).where(Campaign.id.in_(ids))):
        has_begun = row.id in moved.activated
        day = row.starts_on if has_begun else row.ends_on + timedelta(days=1)
        is_missed = row.id in moved.missed
        outcome = Measure.SKIPPED if is_missed else Measure.SUCCEEDED
        yield Work(of, outcome, now - _midnight(day, zone))


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many campaigns are to start or to end, and since when."""
    due = [day for _, day in _due(session, now)][:COUNT_CAP]
    return Backlog(len(due), min(due, default=None))


def _flipping(session: Session, now: datetime) -> list[UUID]:
    """Return congregations with a campaign that is due, but those that wait."""
    waiting = daily.waiting(session, NAME, now)
    found = dict.fromkeys(id_ for id_, _ in _due(session, now))
    return [id_ for id_ in found if id_ not in waiting]


def _due(session: Session, now: datetime) -> Sequence[tuple[UUID, datetime]]:
    """Return whose campaigns are due, and since when, as their calendars show it."""
    latest = now.date() + timedelta(days=1)  # somewhere it may be tomorrow already
    rows = session.execute(
        select(Campaign, Congregation.timezone)
        .join(Congregation, Congregation.id == Campaign.congregation_id)
        .where(transitions.may_be_due(latest))
        .order_by(Campaign.starts_on, Campaign.id)
    )
    return [
        (row.congregation_id, _midnight(day, zone))
        for row, zone in rows
        if (day := _due_on(row)) <= local_day(now, zone)
    ]


def _due_on(row: Campaign) -> date:
    """Return the first day on which the campaign is to move on."""
    is_active = row.activated_at is not None
    return row.ends_on + timedelta(days=1) if is_active else row.starts_on


def _midnight(day: date, zone: str) -> datetime:
    wall = datetime.combine(day, datetime.min.time())
    return instant_of(wall, ZoneInfo(first_zone(zone)))
