"""Podcast feeds that are polled, what they held, and guest lists under way."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    ExternalId,
    Id,
    Json,
    OfCongregation,
    tenant_key,
    within_congregation,
)


class Feed(OfCongregation, Base):
    """The RSS feed of a podcast; its items become episodes."""

    __tablename__ = "feeds"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        tenant_key("feeds"),
        UniqueConstraint("congregation_id", "podcast_id"),
        Index(None, "due_at"),
    )

    id: Mapped[Id]
    podcast_id: Mapped[ExternalId]
    url: Mapped[str] = mapped_column(String(2048))
    title: Mapped[str] = mapped_column(String(200), default="")  # as the feed says
    due_at: Mapped[datetime] = mapped_column(default=utcnow)
    lease_until: Mapped[datetime | None]  # None: nobody fetches it
    attempt: Mapped[int] = mapped_column(default=0)  # only rises; the fence
    failures: Mapped[int] = mapped_column(default=0)  # since the last good answer
    error: Mapped[str | None] = mapped_column(String(500))  # of the last answer
    etag: Mapped[str | None] = mapped_column(String(500))
    last_modified: Mapped[str | None] = mapped_column(String(100))
    digest: Mapped[str | None] = mapped_column(String(64))  # of the last good body
    n_items: Mapped[int] = mapped_column(default=0)  # in the last good body
    checked_at: Mapped[datetime | None]
    good_at: Mapped[datetime | None]  # None: the first good answer is still to come
    changed_at: Mapped[datetime | None]
    #: Items that went out before are imported without an event.
    subscribed_at: Mapped[datetime] = mapped_column(default=utcnow)


class FeedItem(OfCongregation, Base):
    """One item of a feed and the episode it became."""

    __tablename__ = "feed_items"
    __table_args__ = (within_congregation("feed_id", "feeds", ondelete="CASCADE"),)

    feed_id: Mapped[UUID] = mapped_column(primary_key=True)
    guid_digest: Mapped[str] = mapped_column(String(64), primary_key=True)  # SHA-256
    episode_id: Mapped[ExternalId]
    digest: Mapped[str] = mapped_column(String(64))  # of what we keep of it
    missing_since: Mapped[datetime | None]  # None: it is in the feed
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class GuestImport(OfCongregation, Base):
    """A list of guests that was uploaded and waits for an operator's yes."""

    __tablename__ = "guest_imports"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        Index(None, "created_at"),
    )

    id: Mapped[Id]
    podcast_id: Mapped[ExternalId]
    filename: Mapped[str] = mapped_column(String(255))
    content: Mapped[Json]  # see tasks.sources.guests_csv.GuestTable
    created_by: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
