"""Episodes of a podcast and their guests."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    EntityOfCongregation,
    ExternalId,
    within_congregation,
    word,
)


class EpisodeStatus(StrEnum):
    """Where an episode stands."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"  # goes out at scheduled_for
    PUBLISHED = "published"


class Episode(EntityOfCongregation, Base):
    """One programme of a podcast, from draft to published."""

    __tablename__ = "episodes"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        Index(None, "congregation_id", "podcast_id"),
        Index(None, "created_at", "id"),
    )

    podcast_id: Mapped[ExternalId]
    title: Mapped[str] = mapped_column(String(200))
    episode_number: Mapped[int | None]
    description: Mapped[str] = mapped_column(default="")
    status: Mapped[EpisodeStatus] = mapped_column(
        word(EpisodeStatus), default=EpisodeStatus.DRAFT
    )
    recording_at: Mapped[datetime | None]
    scheduled_for: Mapped[datetime | None]
    published_at: Mapped[datetime | None]
    timezone: Mapped[str | None] = mapped_column(String(64))  # None: podcast's
    #: Rises with every change of dates or status; part of the events' own ids.
    revision: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)


class EpisodeGuest(EntityOfCongregation, Base):
    """A person invited to an episode."""

    __tablename__ = "episode_guests"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        Index(None, "congregation_id", "podcast_id"),
        Index(None, "created_at", "id"),
    )

    podcast_id: Mapped[ExternalId]
    episode_id: Mapped[ExternalId | None]  # may be told later
    name: Mapped[str] = mapped_column(String(120))
    email: Mapped[str | None] = mapped_column(String(254))
    #: Lets the guest into the producer's pages.  Never put into a snapshot or a log.
    access_token: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)
