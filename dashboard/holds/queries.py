"""What the pages of holds read, and the banner that every page has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, bindparam, select
from sqlalchemy.orm import Session

from dashboard.executions.lines import Line as Execution
from dashboard.executions.queries import by_ids
from dashboard.paging import Page, paginate
from tasks.db import Scope, scope_of
from tasks.holds.finding import holds_now, in_words, is_active, seen_by
from tasks.holds.plans import Outlook, held_by, n_waiting, outlook
from tasks.lane import COUNT_CAP
from tasks.models import Channel, Congregation, Hold, HoldKind, Rule

#: Holds that the banner tells one by one; it counts the rest.
BANNER_MAX: Final = 3
#: Holds that the list shows above its pages, since they hold now.
ACTIVE_MAX: Final = 200
#: Congregations that the form offers at most.
CHOICES_MAX: Final = 500
#: Channels for which no execution waits, but rows of other lanes.
_ELSEWHERE: Final = frozenset({Channel.DELIVERIES, Channel.NOTIFICATIONS})


@dataclass(frozen=True, slots=True)
class Line:
    """A hold with the names of what it holds."""

    hold: Hold
    congregation: str | None
    rule: str | None

    @property
    def what(self) -> str:
        """What is held, in words."""
        row = self.hold
        name = self.rule if row.rule_id else self.congregation
        return in_words(row.channel, is_rule=row.rule_id is not None, name=name)

    @property
    def title(self) -> str:
        """What is held, as a heading."""
        return self.what[:1].upper() + self.what[1:]

    @property
    def is_volume(self) -> bool:
        """Whether unusual volume is why."""
        return self.hold.kind is HoldKind.VOLUME

    def holds(self, now: datetime) -> bool:
        """Whether it still holds."""
        return is_active(self.hold, now)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for a hold, and what would become of it."""

    n: int  # counted to COUNT_CAP
    outlook: Outlook
    samples: Sequence[Execution]


#: Made once: every page asks for what is held.
_LINES: Final[Select[*tuple[Any, ...]]] = (
    select(Hold, Congregation.name, Rule.name)
    .outerjoin(Congregation, Congregation.id == Hold.congregation_id)
    .outerjoin(Rule, Rule.id == Hold.rule_id)
)
_ACTIVE: Final = (
    _LINES.where(holds_now(bindparam("now"))).order_by(Hold.id).limit(ACTIVE_MAX)
)


def active_lines(session: Session, now: datetime) -> list[Line]:
    """Return what is held now, of the congregations that are seen; oldest first.

    At most ``ACTIVE_MAX``.
    """
    seen = _ACTIVE
    if scope_of(session) is not Scope.EVERY:
        seen = _ACTIVE.where(seen_by(session))
    return [Line(*row) for row in session.execute(seen, {"now": now})]


def ended(
    session: Session, conditions: Sequence[ColumnElement[bool]], now: datetime
) -> Select[*tuple[Any, ...]]:
    """Select the holds that have ended, in the order of ``Line``'s fields."""
    return _LINES.where(~holds_now(now), seen_by(session), *conditions)


def page(
    session: Session,
    conditions: Sequence[ColumnElement[bool]],
    now: datetime,
    cursor: str | None,
    limit: int,
) -> Page[Line]:
    """Return a page of the holds that have ended, newest first."""
    wanted = ended(session, conditions, now)
    found = paginate(session, wanted, (Hold.id.desc(),), cursor, limit)
    rows = [Line(*row) for row in found.rows]
    return Page(rows, found.next_cursor, found.previous_cursor)


def detail(session: Session, row: Hold) -> Line:
    """Return a hold that was found with its names."""
    return Line(*session.execute(_LINES.where(Hold.id == row.id)).one())


def waiting(session: Session, row: Hold, now: datetime) -> Waiting | None:
    """Return what waits for a hold; None: no execution can."""
    if row.channel in _ELSEWHERE:
        return None
    matching = held_by(row)
    told = outlook(session, matching, now)
    n = told.n_looked
    if told.is_partial:
        n = n_waiting(session, matching, now, COUNT_CAP)
    return Waiting(n, told, by_ids(session, told.samples))


def rule_named(session: Session, rule_id: UUID) -> Rule | None:
    """Return a rule that may be held; None: the session sees no such rule."""
    wanted = select(Rule).where(Rule.id == rule_id, Rule.deleted_at.is_(None))
    return session.scalars(wanted).first()


def congregations(session: Session) -> Sequence[Congregation]:
    """Return the congregations whose share may be held, by name."""
    statement = select(Congregation).order_by(Congregation.name).limit(CHOICES_MAX)
    return session.scalars(statement).all()
