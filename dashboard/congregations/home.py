"""A congregation's home: its back office in some numbers, each the way to its page.

A tile is one function of ``TILES``; one that has nothing to say returns ``None``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal

from flask import url_for
from sqlalchemy import Select, func, literal_column, select
from sqlalchemy.orm import Session

from dashboard.office import Place
from dashboard.retention.queries import still_blocked
from tasks.congregation.campaigns.transitions import undecided
from tasks.lane import COUNT_CAP
from tasks.models import Attribution, Campaign, Document, Member, Territory
from tasks.models.notification import DigestMail
from tasks.saying import say

#: A document whose last day is so near is about to leave the board.
EXPIRES_SOON: Final = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Tile:
    """One number of the home."""

    label: str
    value: int
    url: str
    tone: Literal["bad", "warn"] | None = None
    hint: str = ""


def tiles(session: Session, place: Place) -> Sequence[Tile]:
    """Return the tiles of a congregation that have something to say."""
    found = (make(session, place) for make in TILES)
    return [tile for tile in found if tile is not None]


def _members(session: Session, place: Place) -> Tile | None:
    n = _count(
        session,
        select(Member.id).where(
            Member.congregation_id == place.id,
            Member.left_on.is_(None),
            Member.anonymised_at.is_(None),
        ),
    )
    return Tile(say("Members"), n, _url("members.index", place))


def _leaving(session: Session, place: Place) -> Tile | None:
    n = _count(
        session,
        select(Member.id).where(
            Member.congregation_id == place.id,
            Member.left_on.is_not(None),
            Member.anonymised_at.is_(None),
        ),
    )
    url = url_for("retention.detail", slug=place.slug)
    return Tile(say("Left, to be anonymised"), n, url) if n else None


def _blocked(session: Session, place: Place) -> Tile | None:
    n = _count(session, still_blocked(place.id))
    url = url_for("retention.detail", slug=place.slug)
    hint = say("a group still needs them") if n else ""
    return Tile(say("Cannot be anonymised"), n, url, "warn", hint) if n else None


def _territories(session: Session, place: Place) -> Tile | None:
    n = _count(
        session, select(Territory.id).where(Territory.congregation_id == place.id)
    )
    n_open = _count(
        session,
        _open_work(place).with_only_columns(Attribution.territory_id).distinct(),
    )
    hint = say("%(n)s given out", n=n_open)
    return Tile(say("Territories"), n, _url("territories.index", place), hint=hint)


def _overdue(session: Session, place: Place) -> Tile | None:
    late = _open_work(place).where(
        Attribution.paused_on.is_(None), Attribution.due_on < place.today
    )
    n = _count(session, late)
    url = _url("territories.index", place, tab="overdue")
    return Tile(say("Overdue territories"), n, url, "bad") if n else None


def _kept_paused(session: Session, place: Place) -> Tile | None:
    """Count work that campaigns paused which are over: it is easily forgotten."""
    kept = _open_work(place).join(
        Campaign,
        (Campaign.id == Attribution.paused_by_id) & Campaign.ended_at.is_not(None),
    )
    n = _count(session, kept)
    url = _url("territories.index", place, tab="paused")
    hint = say("by campaigns that are over")
    return Tile(say("Still paused"), n, url, "warn", hint) if n else None


def _campaign(session: Session, place: Place) -> Tile | None:
    row = session.scalar(
        select(Campaign)
        .where(Campaign.congregation_id == place.id, undecided())
        .order_by(Campaign.activated_at.is_(None), Campaign.starts_on)
        .limit(1)
    )
    if row is None:
        return None
    url = url_for("campaigns.detail", campaign_id=row.id)
    if row.activated_at is not None:
        days = (row.ends_on - place.today).days + 1  # today counts
        return Tile(say("Campaign, days left"), max(0, days), url, hint=row.name)
    days = (row.starts_on - place.today).days
    return Tile(say("Campaign, days to go"), max(0, days), url, hint=row.name)


def _failed_mails(session: Session, place: Place) -> Tile | None:
    n = _count(
        session,
        select(DigestMail.id).where(
            DigestMail.congregation_id == place.id,
            DigestMail.state == literal_column("'failed'"),
        ),
    )
    url = _url("notifications.index", place, state="failed")
    return Tile(say("Failed notifications"), n, url, "bad") if n else None


def _expiring(session: Session, place: Place) -> Tile | None:
    n = _count(
        session,
        select(Document.id).where(
            Document.congregation_id == place.id,
            Document.visible_until.between(place.today, place.today + EXPIRES_SOON),
        ),
    )
    url = _url("board.index", place)
    return Tile(say("Documents that end soon"), n, url, "warn") if n else None


#: In the order in which they stand.
TILES: Final[Sequence[Callable[[Session, Place], Tile | None]]] = (
    _members,
    _territories,
    _campaign,
    _overdue,
    _kept_paused,
    _leaving,
    _blocked,
    _failed_mails,
    _expiring,
)


def _open_work(place: Place) -> Select[Any]:
    return select(Attribution.id).where(
        Attribution.congregation_id == place.id, Attribution.ended_on.is_(None)
    )


def _count(session: Session, statement: Select[Any]) -> int:
    """Count rows, up to ``COUNT_CAP``."""
    some = statement.limit(COUNT_CAP).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0


def _url(
    endpoint: str, place: Place, *, tab: str | None = None, state: str | None = None
) -> str:
    """Return the address of a list of this congregation alone."""
    return url_for(endpoint, congregation=place.slug, tab=tab, state=state)
