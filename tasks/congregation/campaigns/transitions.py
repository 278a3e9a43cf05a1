"""Campaigns whose day has come: ended, missed or activated, in this order.

What decides is the congregation's local day.  A campaign is stamped before it acts, so
that doing it twice does nothing the second time; all of it is one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from tasks.automation.own import Happening, report
from tasks.congregation.campaigns import treatment, work
from tasks.congregation.days import local_day, locked
from tasks.models import Campaign
from tasks.models.base import Json
from tasks.operations.audit import SYSTEM, Subject, record
from tasks.saying import mark


@dataclass(frozen=True, slots=True)
class Moved:
    """Campaigns that went on, as ids."""

    ended: tuple[UUID, ...] = ()
    missed: tuple[UUID, ...] = ()
    activated: tuple[UUID, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was due."""
        return not (self.ended or self.missed or self.activated)


def is_to_end(campaign: Campaign, today: date) -> bool:
    """Whether its last day is over; the last day itself still belongs to it."""
    return campaign.activated_at is not None and campaign.ends_on < today


def is_to_miss(campaign: Campaign, today: date) -> bool:
    """Whether all of its days went by unseen: running it now would be for nothing."""
    return campaign.activated_at is None and campaign.ends_on < today


def is_to_activate(campaign: Campaign, today: date) -> bool:
    """Whether today is one of its days."""
    is_one = campaign.starts_on <= today <= campaign.ends_on
    return campaign.activated_at is None and is_one


def move(session: Session, congregation_id: UUID, now: datetime) -> Moved:
    """Move the congregation's campaigns on, with all that follows from it.

    Ending comes first: of two campaigns that follow upon each other the second one
    finds the work as the first one leaves it.

    Raises:
        NotFound: the session sees no such congregation.
    """
    today = local_day(now, locked(session, congregation_id).timezone)
    rows = _undecided(session, congregation_id)
    steps: tuple[_Step, ...] = (
        (is_to_end, end),
        (is_to_miss, _miss),
        (is_to_activate, _activate),
    )
    return Moved(*(_walk(session, rows, step, today, now) for step in steps))


_Step = tuple[
    Callable[[Campaign, date], bool],
    Callable[[Session, Campaign, date, datetime], None],
]


def _walk(
    session: Session, rows: Sequence[Campaign], step: _Step, today: date, now: datetime
) -> tuple[UUID, ...]:
    is_due, act = step
    due = [row for row in rows if is_due(row, today)]
    for row in due:
        act(session, row, today, now)
    return tuple(row.id for row in due)


def undecided() -> ColumnElement[bool]:
    """Return the condition of campaigns that may still go on."""
    return and_(Campaign.ended_at.is_(None), Campaign.missed_at.is_(None))


def may_be_due(latest: date) -> ColumnElement[bool]:
    """Return the condition of campaigns that are due where it is ``latest`` already."""
    starts = and_(Campaign.activated_at.is_(None), Campaign.starts_on <= latest)
    ends = and_(Campaign.activated_at.is_not(None), Campaign.ends_on < latest)
    return and_(undecided(), or_(starts, ends))


def _undecided(session: Session, congregation_id: UUID) -> Sequence[Campaign]:
    return session.scalars(
        select(Campaign)
        .where(Campaign.congregation_id == congregation_id, undecided())
        .order_by(Campaign.starts_on, Campaign.id)
        .execution_options(populate_existing=True)
    ).all()


def _activate(session: Session, row: Campaign, today: date, now: datetime) -> None:
    row.activated_at = now
    row.version += 1
    session.flush()
    done = treatment.start(session, row, work.covered(session, row), today)
    treatment.tell(session, row, "start", done, now)
    _tell(session, row, "activated", "started", done.counts, now)


def end(session: Session, row: Campaign, today: date, now: datetime) -> None:
    """End a campaign that is active; what it closes ended with its last day."""
    row.ended_at = now
    row.version += 1
    session.flush()
    # All of its rows: what it gave or paused may have left its scope since.
    everything = work.everything()
    done = treatment.end(session, row, everything, today, last=row.ends_on)
    treatment.tell(session, row, "end", done, now)
    _tell(session, row, "ended", "ended", done.counts, now)


def _miss(session: Session, row: Campaign, today: date, now: datetime) -> None:
    row.missed_at = now
    row.version += 1
    session.flush()
    summary = (
        f"The campaign “{row.name}” was missed: nobody was there from {row.starts_on} "
        f"to {row.ends_on}, and today is {today}. No work was touched."
    )
    record(session, SYSTEM, "campaign.missed", _subject(row), summary)


#: What the report counts -> how a sentence says it.
COUNTS: Final = {
    "paused": mark("paused"),
    "closed": mark("closed"),
    "postponed": mark("postponed"),
    "reassigned": mark("given out for the campaign"),
    "not_reassigned": mark("not given out for the campaign"),
    "had_it": mark("given out for the campaign before"),
    "work_closed": mark("closed of the campaign’s own"),
    "resumed": mark("resumed"),
    "kept_paused": mark("kept paused"),
}


def sentence(done: Json) -> str:
    """Return what was done in words, such as "12 paused, 3 closed"."""
    parts = [f"{done[key]} {word}" for key, word in COUNTS.items() if done.get(key)]
    return ", ".join(parts) or "no work touched"


def _tell(
    session: Session, row: Campaign, verb: str, word: str, done: Json, now: datetime
) -> None:
    action = f"campaign.{verb}"
    summary = f"The campaign “{row.name}” {word}: {sentence(done)}."
    counts = {key: n for key, n in done.items() if isinstance(n, int)}
    record(session, SYSTEM, action, _subject(row), summary, after=counts)
    facts = {
        "id": str(row.id),
        "name": row.name,
        "starts_on": row.starts_on.isoformat(),
        "ends_on": row.ends_on.isoformat(),
    }
    said = {"campaign": facts}
    report(session, [Happening(action, row.congregation_id, row.id, said)], now)


def _subject(row: Campaign) -> Subject:
    return Subject("campaign", str(row.id), row.congregation_id)
