"""What the pages of one podcast and one booking read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import ColumnElement, and_, case, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from dashboard.paging import Page, paginate
from tasks.errors import NotFound
from tasks.models import (
    Booking,
    BookingLink,
    Episode,
    EpisodeGuest,
    Podcast,
    Rule,
    RulePodcast,
)
from tasks.models.base import EntityOfCongregation
from tasks.saying import say

#: Rules and episodes beside a podcast's bookings; their own pages have the rest.
SIDE_LIST: Final = 25

When = Literal["coming", "past"]


@dataclass(frozen=True, slots=True)
class BookingFacts:
    """A booking with the rows that it points to; they may not be known here."""

    booking: Booking
    podcast: Podcast
    link: BookingLink | None
    episode: Episode | None
    guest: EpisodeGuest | None


def bookings(
    session: Session,
    of: Podcast,
    when: When,
    cursor: str | None,
    *,
    limit: int,
    now: datetime,
) -> Page[Booking]:
    """Return a page of a podcast's bookings: coming ones soonest, past ones latest."""
    statement = select(Booking).where(
        Booking.congregation_id == of.congregation_id, Booking.podcast_id == of.id
    )
    if when == "coming":
        statement = statement.where(Booking.start_time >= now)
        return paginate(
            session, statement, (Booking.start_time, Booking.id), cursor, limit
        )
    statement = statement.where(Booking.start_time < now)
    columns = (Booking.start_time.desc(), Booking.id.desc())
    return paginate(session, statement, columns, cursor, limit)


def rules(session: Session, of: Podcast) -> Sequence[Rule]:
    """Return the rules that listen to a podcast, its own before everybody's."""
    is_own = Rule.id.in_(
        select(RulePodcast.rule_id).where(
            RulePodcast.congregation_id == of.congregation_id,
            RulePodcast.podcast_id == of.id,
        )
    )
    return session.scalars(
        select(Rule)
        .where(
            Rule.congregation_id == of.congregation_id,
            or_(is_own, Rule.podcast_ids.is_(None)),
            Rule.deleted_at.is_(None),
        )
        .order_by(case((Rule.podcast_ids.is_(None), 1), else_=0), Rule.name, Rule.id)
        .limit(SIDE_LIST)
    ).all()


def episodes(session: Session, of: Podcast) -> Sequence[Episode]:
    """Return a podcast's newest episodes."""
    return session.scalars(
        select(Episode)
        .where(
            Episode.congregation_id == of.congregation_id,
            Episode.podcast_id == of.id,
        )
        .order_by(Episode.created_at.desc(), Episode.id)
        .limit(SIDE_LIST)
    ).all()


def booking(session: Session, congregation_id: UUID, booking_id: str) -> BookingFacts:
    """Return a booking with its podcast, link, episode and guest, in one query.

    Raises:
        NotFound: the session sees none.
    """

    row = session.execute(
        select(Booking, Podcast, BookingLink, Episode, EpisodeGuest)
        .join(Podcast, _same(Podcast, Booking.podcast_id))
        .outerjoin(BookingLink, _same(BookingLink, Booking.booking_link_id))
        .outerjoin(Episode, _same(Episode, Booking.episode_id))
        .outerjoin(EpisodeGuest, _same(EpisodeGuest, Booking.guest_id))
        .where(Booking.congregation_id == congregation_id, Booking.id == booking_id)
    ).one_or_none()
    if row is None:
        raise NotFound("unknown_booking", say("There is no such booking."))
    return BookingFacts(*row)


def _same(
    table: type[EntityOfCongregation], column: InstrumentedAttribute[Any]
) -> ColumnElement[bool]:
    """Return the join to the row that a booking's reference names, if it is here."""
    return and_(table.congregation_id == Booking.congregation_id, table.id == column)
