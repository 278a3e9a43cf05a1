"""What the congregations' pages read; every list is paged or capped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.errors import NotFound
from tasks.models import (
    Booking,
    BookingLink,
    BookingStatus,
    Congregation,
    Podcast,
)
from tasks.saying import say

#: By name.
KEYS: Final[tuple[Key, ...]] = (Congregation.name, Congregation.id)
#: Bookings that may still take place.
OPEN: Final = (BookingStatus.REQUESTED, BookingStatus.CONFIRMED)


def congregations(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Congregation]:
    """Return a page of the congregations, by name."""
    return paginate(session, select(Congregation).where(*wanted), KEYS, cursor, limit)


def podcast_counts(session: Session, ids: Sequence[UUID]) -> Mapping[UUID, int]:
    """Return how many podcasts each of these congregations has; none: no key."""
    rows = session.execute(
        select(Podcast.congregation_id, func.count())
        .where(Podcast.congregation_id.in_(ids))
        .group_by(Podcast.congregation_id)
    )
    return {row[0]: row[1] for row in rows}


def congregation(session: Session, slug: str) -> Congregation:
    """Return the congregation of that address.

    Raises:
        NotFound: the session sees none.
    """
    found = session.scalar(select(Congregation).where(Congregation.slug == slug))
    if found is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    return found


def podcasts(
    session: Session, congregation_id: UUID, cursor: str | None, limit: int
) -> Page[Podcast]:
    """Return a page of a congregation's podcasts, by title."""
    statement = select(Podcast).where(Podcast.congregation_id == congregation_id)
    columns = (Podcast.title, Podcast.id)
    return paginate(session, statement, columns, cursor, limit)


def link_counts(
    session: Session, congregation_id: UUID, podcast_ids: Sequence[str]
) -> Mapping[str, int]:
    """Return how many booking links each of these podcasts has; none: no key."""
    rows = session.execute(
        select(BookingLink.podcast_id, func.count())
        .where(
            BookingLink.congregation_id == congregation_id,
            BookingLink.podcast_id.in_(podcast_ids),
        )
        .group_by(BookingLink.podcast_id)
    )
    return {row[0]: row[1] for row in rows}


def next_bookings(
    session: Session, congregation_id: UUID, podcast_ids: Sequence[str], now: datetime
) -> Mapping[str, datetime]:
    """Return when each podcast's next open booking starts; none: no key."""
    # A look into the index for each podcast, however many bookings there are.
    soonest = (
        select(Booking.start_time)
        .where(
            Booking.congregation_id == Podcast.congregation_id,
            Booking.podcast_id == Podcast.id,
            Booking.start_time >= now,
            Booking.status.in_(OPEN),
        )
        .order_by(Booking.start_time)
        .limit(1)
        .correlate(Podcast)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Podcast.id, soonest).where(
            Podcast.congregation_id == congregation_id, Podcast.id.in_(podcast_ids)
        )
    )
    return {row[0]: row[1] for row in rows if row[1] is not None}


def podcast(session: Session, congregation_id: UUID, podcast_id: str) -> Podcast:
    """Return a podcast of a congregation.

    Raises:
        NotFound: the session sees none.
    """
    found = session.get(Podcast, (congregation_id, podcast_id))
    if found is None:
        raise NotFound("unknown_podcast", say("There is no such podcast."))
    return found
