"""What the pages of sources read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session, defer

from tasks.models import (
    BookingLink,
    Congregation,
    Episode,
    Feed,
    FeedItem,
    GuestImport,
    Podcast,
    Source,
    SourceCall,
)

#: Rows of each list; an installation has a handful.
LIST_MAX: Final = 200
LINKS_MAX: Final = 50
MISSING_MAX: Final = 20
#: Lists of guests that wait; people upload them, and they are gone after a day.
WAITING_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class ListedSource:
    """One row of the list of services."""

    source: Source
    podcast: str
    congregation: str
    last: SourceCall | None  # None: nobody has called yet


@dataclass(frozen=True, slots=True)
class ListedFeed:
    """One row of the list of feeds."""

    feed: Feed
    podcast: str
    congregation: str

    @property
    def state(self) -> str:
        """How it stands: ``waiting``, ``following`` or ``failing``."""
        return state_of(self.feed)


def state_of(feed: Feed) -> str:
    """Return how a feed stands."""
    if feed.error is not None:
        return "failing"
    return "waiting" if feed.good_at is None else "following"


def sources(session: Session) -> Sequence[ListedSource]:
    """Return the services that call, with what they said last."""
    newest = (
        select(SourceCall.id)
        .where(SourceCall.source_id == Source.id)
        .order_by(SourceCall.received_at.desc(), SourceCall.id.desc())
        .limit(1)
        .correlate(Source)
        .scalar_subquery()
    )
    found = session.execute(
        select(Source, Podcast.title, Congregation.name, SourceCall)
        .join(Podcast, _podcast(Source.congregation_id, Source.podcast_id))
        .join(Congregation, Congregation.id == Source.congregation_id)
        .outerjoin(SourceCall, SourceCall.id == newest)
        .order_by(Congregation.name, Source.name, Source.id)
        .limit(LIST_MAX)
    )
    return [ListedSource(*row) for row in found]


def feeds(session: Session) -> Sequence[ListedFeed]:
    """Return the feeds, those that fail first."""
    found = session.execute(
        select(Feed, Podcast.title, Congregation.name)
        .join(Podcast, _podcast(Feed.congregation_id, Feed.podcast_id))
        .join(Congregation, Congregation.id == Feed.congregation_id)
        .order_by(Feed.error.is_(None), Congregation.name, Podcast.title)
        .limit(LIST_MAX)
    )
    return [ListedFeed(*row) for row in found]


def guest_lists(session: Session) -> Sequence[tuple[GuestImport, str]]:
    """Return the lists that wait, newest first, without their rows' contents."""
    found = session.execute(
        select(GuestImport, Podcast.title)
        .join(Podcast, _podcast(GuestImport.congregation_id, GuestImport.podcast_id))
        .options(defer(GuestImport.content))
        .order_by(GuestImport.created_at.desc(), GuestImport.id)
        .limit(WAITING_MAX)
    )
    return [(row, title) for row, title in found]


def place_of(
    session: Session, row: Source | Feed | GuestImport
) -> tuple[Podcast, Congregation]:
    """Return the podcast and the congregation that something belongs to."""
    found = session.execute(
        select(Podcast, Congregation)
        .join(Congregation, Congregation.id == Podcast.congregation_id)
        .where(
            Podcast.congregation_id == row.congregation_id, Podcast.id == row.podcast_id
        )
    ).one()
    return found[0], found[1]


def links(session: Session, source: Source) -> Sequence[BookingLink]:
    """Return the booking links that an event type may stand for."""
    return session.scalars(
        select(BookingLink)
        .where(
            BookingLink.congregation_id == source.congregation_id,
            BookingLink.podcast_id == source.podcast_id,
        )
        .order_by(BookingLink.name, BookingLink.id)
        .limit(LINKS_MAX)
    ).all()


def n_missing(session: Session, feed_id: UUID) -> int:
    """Return how many items have left a feed."""
    gone = (FeedItem.feed_id == feed_id, FeedItem.missing_since.is_not(None))
    return session.scalar(select(func.count()).where(*gone)) or 0


def missing(session: Session, feed: Feed) -> Sequence[tuple[Episode, FeedItem]]:
    """Return episodes whose items have left the feed, the latest first."""
    found = session.execute(
        select(Episode, FeedItem)
        .join(
            Episode,
            and_(
                Episode.congregation_id == FeedItem.congregation_id,
                Episode.id == FeedItem.episode_id,
            ),
        )
        .where(FeedItem.feed_id == feed.id, FeedItem.missing_since.is_not(None))
        .order_by(FeedItem.missing_since.desc(), Episode.id)
        .limit(MISSING_MAX)
    )
    return [(episode, item) for episode, item in found]


def _podcast(
    of: InstrumentedAttribute[UUID], id_: InstrumentedAttribute[str]
) -> ColumnElement[bool]:
    return and_(Podcast.congregation_id == of, Podcast.id == id_)
