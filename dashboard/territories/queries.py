"""What the pages of territories read; a list costs four queries whatever its length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Row, Select, func, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.congregation.territories.resting import resting_until
from tasks.models import Attribution, Campaign, Congregation, Member, Territory
from tasks.saying import mark, meant

#: The tabs: word in the address -> what stands there.
TABS: Final[Mapping[str, str]] = {
    "": mark("All"),
    "free": meant("territories", "Free"),
    "out": meant("territories", "Out"),
    "overdue": mark("Overdue"),
    "paused": mark("Paused"),
    "resting": mark("Resting"),
}
#: In the order of their numbers: 2 comes before 10.
KEYS: Final[tuple[Key, ...]] = (
    func.length(Territory.number, type_=Integer),
    Territory.number,
    Territory.id,
)
_HISTORY_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Work:
    """Somebody's work on a territory."""

    row: Attribution
    member: Member
    campaign: Campaign | None  # None: regular work

    def state(self, today: date) -> str:
        """Return the word of ``dashboard.states`` for how it stands."""
        if self.row.ended_on is not None:
            return "ended"
        if self.row.paused_on is not None:
            return "halted"
        if self.row.started_on > today:
            return "planned"
        return "overdue" if self.row.due_on < today else "out"


@dataclass(frozen=True, slots=True)
class Ground:
    """A territory as a list shows it."""

    row: Territory
    congregation: Congregation
    open: Sequence[Work]
    rests_until: date | None

    def state(self, today: date) -> str:
        """Return the word of ``dashboard.states`` for how it stands."""
        if self.open:
            return self.open[0].state(today)
        is_resting = self.rests_until is not None and self.rests_until >= today
        return "resting" if is_resting else "free"


def selected(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[Territory, Congregation]:
    """Select territories with their congregation."""
    return (
        select(Territory, Congregation)
        .join(Congregation, Congregation.id == Territory.congregation_id)
        .where(*wanted)
    )


def listed(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Ground]:
    """Return a page of territories in the order of their numbers."""
    page = paginate(session, selected(wanted), KEYS, cursor, limit)
    ids = [row.id for row, _ in page.rows]
    open_work, rests = _open_work(session, ids), resting_until(session, ids)
    grounds = [
        Ground(row, congregation, open_work[row.id], rests.get(row.id))
        for row, congregation in page.rows
    ]
    return Page(grounds, page.next_cursor, page.previous_cursor)


def ground(session: Session, row: Territory) -> Ground:
    """Return one territory as a list shows it."""
    congregation = session.get_one(Congregation, row.congregation_id)
    rests = resting_until(session, [row.id]).get(row.id)
    return Ground(row, congregation, _open_work(session, [row.id])[row.id], rests)


def history(session: Session, territory: Territory) -> Sequence[Work]:
    """Return who worked on a territory, the latest first."""
    rows = session.execute(
        _work()
        .where(
            Attribution.congregation_id == territory.congregation_id,
            Attribution.territory_id == territory.id,
            Attribution.ended_on.is_not(None),
        )
        .order_by(Attribution.started_on.desc(), Attribution.id.desc())
        .limit(_HISTORY_MAX)
    )
    return [Work(*row) for row in rows]


def numbers(session: Session, congregation_id: UUID) -> Sequence[Row[UUID, str, str]]:
    """Return id, number and name of a congregation's territories, in order."""
    length = func.length(Territory.number, type_=Integer)
    return session.execute(
        select(Territory.id, Territory.number, Territory.name)
        .where(Territory.congregation_id == congregation_id)
        .order_by(length, Territory.number)
    ).all()


def _work() -> Select[Attribution, Member, Campaign]:
    return (
        select(Attribution, Member, Campaign)
        .join(Member, Member.id == Attribution.member_id)
        .outerjoin(Campaign, Campaign.id == Attribution.campaign_id)
    )


def _open_work(session: Session, ids: Sequence[UUID]) -> defaultdict[UUID, list[Work]]:
    """Return the open work on territories, a campaign's first: it is done now."""
    rows = session.execute(
        _work()
        .where(Attribution.territory_id.in_(ids), Attribution.ended_on.is_(None))
        .order_by(
            Attribution.campaign_id.is_(None), Attribution.started_on, Attribution.id
        )
    )
    found: defaultdict[UUID, list[Work]] = defaultdict(list)
    for row in rows:
        found[row[0].territory_id].append(Work(*row))
    return found
