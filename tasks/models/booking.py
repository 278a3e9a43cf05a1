"""Bookings: a guest, a podcast, an instant."""

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


class BookingStatus(StrEnum):
    """Where a booking stands."""

    REQUESTED = "requested"  # waits for the host's yes
    CONFIRMED = "confirmed"
    DECLINED = "declined"
    CANCELLED = "cancelled"


class Booking(EntityOfCongregation, Base):
    """A recording that a guest asked for."""

    __tablename__ = "bookings"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        Index(None, "congregation_id", "podcast_id", "start_time"),
        Index(None, "congregation_id", "start_time", "id"),
        Index(None, "start_time", "id"),
        # The bookings of one episode or guest: their pages tell of those, too.
        Index(None, "congregation_id", "episode_id"),
        Index(None, "congregation_id", "guest_id"),
    )

    podcast_id: Mapped[ExternalId]
    # References to rows that may come later or never; so no foreign keys here.
    booking_link_id: Mapped[ExternalId | None]
    episode_id: Mapped[ExternalId | None]
    guest_id: Mapped[ExternalId | None]
    guest_name: Mapped[str] = mapped_column(String(120), default="")
    guest_email: Mapped[str | None] = mapped_column(String(254))
    guest_phone: Mapped[str | None] = mapped_column(String(40))
    start_time: Mapped[datetime]
    end_time: Mapped[datetime | None]
    timezone: Mapped[str | None] = mapped_column(String(64))  # None: podcast's
    meeting_url: Mapped[str | None] = mapped_column(String(2048))
    status: Mapped[BookingStatus] = mapped_column(
        word(BookingStatus), default=BookingStatus.REQUESTED
    )
    confirmed_at: Mapped[datetime | None]  # reference of time.after_booking
    #: Rises with every change of time or status; part of the events' own ids.
    revision: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)
