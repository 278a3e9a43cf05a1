"""What settles, and how pages show a notification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dashboard.zones import own_zone
from tasks.congregation.notifications.composing import values_of
from tasks.congregation.notifications.kinds import CATEGORIES, DUTIES, KINDS
from tasks.congregation.notifications.telling import IS_PENDING
from tasks.congregation.notifications.words import Words
from tasks.errors import NotFound
from tasks.models import Account, Congregation, Notification, Reason
from tasks.saying import language, mark, say

#: Groups that the page lists; a congregation has one for each category at most.
GROUPS_MAX: Final = 100
#: ``CATEGORIES`` once more: what mails say has catalogs of its own.
TITLES: Final[Mapping[str, str]] = {
    "document": mark("Documents"),
    "territory": mark("Territories"),
    "retention": mark("Members who left"),
    "sync": mark("Address updates"),
    "data_transfer": mark("Exports and imports"),
}
#: Notifications that one page lists.
SHOWN_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Item:
    """One notification as a page shows it."""

    notification: Notification
    recipient: str  # an account's address, or a duty
    left_out: Reason | None = None  # of one mail

    @property
    def title(self) -> str:
        """Its type, for people."""
        kind = KINDS.get(self.notification.type)
        return say(kind.title) if kind else self.notification.type

    @property
    def sentence(self) -> str:
        """What its mail says of it, as far as it is known before the mail is made."""
        one = self.notification
        kind = KINDS.get(one.type)
        if kind is None:  # of a version that knew other types
            return one.type
        words = Words.of(language.get(), str(own_zone()))
        try:
            return words.say(kind.line, values_of(kind, one.payload, {}))
        except (KeyError, ValueError):  # names of people are read when the mail leaves
            return " · ".join(map(str, one.payload.values()))


@dataclass(frozen=True, slots=True)
class Group:
    """What settles of one category: the digest that it is going to be."""

    congregation: Congregation
    category: str
    n: int
    first_at: datetime
    leaves_at: datetime  # when the first of it leaves

    @property
    def title(self) -> str:
        """Its category, for people."""
        return category_title(self.category)


def category_title(category: str) -> str:
    """Return a category's name; one of another version is shown as it is."""
    return say(TITLES.get(category, category))


def groups(session: Session) -> Sequence[Group]:
    """Return what settles, the first to leave first."""
    grouped = (
        select(
            Notification.congregation_id,
            Notification.category,
            func.count().label("n"),
            func.min(Notification.first_at).label("first_at"),
            func.min(Notification.settles_at).label("leaves_at"),
        )
        .where(IS_PENDING)
        .group_by(Notification.congregation_id, Notification.category)
        .subquery()
    )
    found = grouped.c
    rows = session.execute(
        select(Congregation, found.category, found.n, found.first_at, found.leaves_at)
        .join(grouped, found.congregation_id == Congregation.id)
        .order_by(found.leaves_at, found.category)
        .limit(GROUPS_MAX)
    )
    return [Group(*row) for row in rows]


def settling(
    session: Session, slug: str, category: str
) -> tuple[Congregation, list[Item]]:
    """Return what settles of one category, oldest first.

    Raises:
        NotFound: the session sees no such congregation, or there is no such category.
    """
    of = session.scalar(select(Congregation).filter_by(slug=slug))
    if of is None or category not in CATEGORIES:
        raise NotFound("unknown_group", say("There is no such group of notifications."))
    rows = session.execute(
        select(Notification, Account.email)
        .outerjoin(Account, Account.id == Notification.account_id)
        .where(
            Notification.congregation_id == of.id,
            Notification.category == category,
            IS_PENDING,
        )
        .order_by(Notification.first_at, Notification.id)
        .limit(SHOWN_MAX)
    )
    return of, [Item(row, recipient_of(row, email)) for row, email in rows]


def recipient_of(row: Notification, email: str | None) -> str:
    """Return whom a notification is for: an account's address, or a duty."""
    duty = row.duty or ""
    return email or say(DUTIES.get(duty, duty))
