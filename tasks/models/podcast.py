"""Podcasts and the links through which guests book them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    EntityOfCongregation,
    ExternalId,
    within_congregation,
)


class Podcast(EntityOfCongregation, Base):
    """A show of a congregation; rules belong to one, or to all of them."""

    __tablename__ = "podcasts"

    title: Mapped[str] = mapped_column(String(200))
    slug: Mapped[str] = mapped_column(String(64), default="")
    timezone: Mapped[str | None] = mapped_column(String(64))  # None: congregation's
    host_name: Mapped[str] = mapped_column(String(120), default="")
    host_email: Mapped[str | None] = mapped_column(String(254))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)


class BookingLink(EntityOfCongregation, Base):
    """A page on which guests choose a slot, for example "45-minute interview"."""

    __tablename__ = "booking_links"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        Index(None, "congregation_id", "podcast_id"),
    )

    podcast_id: Mapped[ExternalId]
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)
