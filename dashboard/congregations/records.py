"""By what rows name a booking, an episode or a guest, and its bookings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.entities import Kind, Record, kind_of
from tasks.models import Booking, Episode

#: The bookings of one episode or guest that its page tells of, the latest first.
BOOKINGS_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Names:
    """By what rows name a record: its own id, and those of its bookings."""

    congregation_id: UUID
    kind: Kind
    id: str
    booking_ids: tuple[str, ...] = ()  # of an episode or guest


def bookings_of(session: Session, record: Record) -> Sequence[Booking]:
    """Return the bookings of an episode or guest, the latest first; capped."""
    if isinstance(record, Booking):
        return []
    column = Booking.episode_id if isinstance(record, Episode) else Booking.guest_id
    return session.scalars(
        select(Booking)
        .where(Booking.congregation_id == record.congregation_id, column == record.id)
        .order_by(Booking.start_time.desc(), Booking.id.desc())
        .limit(BOOKINGS_MAX)
    ).all()


def names_of(record: Record, bookings: Sequence[Booking] = ()) -> Names:
    """Return by what rows name a record."""
    return Names(
        record.congregation_id,
        kind_of(record),
        record.id,
        tuple(booking.id for booking in bookings),
    )
