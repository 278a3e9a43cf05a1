"""What happens to bookings: each verb is the change, its event and its planning.

All three belong to the caller's transaction, so none is saved without the others.
Every verb may be called again: what is so already changes nothing and tells nobody.
``congregation_id`` may be ``None`` where the session's scope has only one.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, Unpack
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation import fields, rows
from tasks.automation.booking_changes import (
    CHECKS,
    LIVING,
    change,
    ended,
    moved,
    refuse_dates,
)
from tasks.automation.bookkeeping import plan_booking, report
from tasks.automation.checks import checked_id
from tasks.automation.results import UNSET, Changed, Unset
from tasks.automation.scope import known_congregation
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models.booking import Booking, BookingStatus


class BookingValues(TypedDict, total=False):
    """Fields of a booking: absent means unchanged, ``None`` clears."""

    podcast_id: str  # cannot change later
    booking_link_id: str | None
    episode_id: str | None
    guest_id: str | None
    guest_name: str | None
    guest_email: str | None
    guest_phone: str | None
    start_time: datetime
    end_time: datetime | None
    timezone: str | None
    meeting_url: str | None


def confirm(
    session: Session,
    congregation_id: UUID | None,
    booking_id: str,
    *,
    now: datetime | None = None,
) -> Changed[Booking]:
    """Confirm a booking that is requested, or one that was cancelled.

    Raises:
        NotFound: there is no such booking.
        Conflict: it was declined.
    """
    at = now or utcnow()
    row, changed = moved(
        session, congregation_id, booking_id, BookingStatus.CONFIRMED, at
    )
    if not changed:
        return Changed(row, changed=False)
    row.confirmed_at = at
    event = report(session, row, "booking.confirmed", at)
    return Changed(
        row, changed=True, event=event, schedule=plan_booking(session, row, at)
    )


def decline(
    session: Session,
    congregation_id: UUID | None,
    booking_id: str,
    *,
    now: datetime | None = None,
) -> Changed[Booking]:
    """Decline a booking that is requested.

    Raises:
        NotFound: there is no such booking.
        Conflict: it is confirmed or cancelled.
    """
    at = now or utcnow()
    row, changed = moved(
        session, congregation_id, booking_id, BookingStatus.DECLINED, at
    )
    return ended(session, row, "booking.declined", at, changed=changed)


def cancel(
    session: Session,
    congregation_id: UUID | None,
    booking_id: str,
    *,
    now: datetime | None = None,
) -> Changed[Booking]:
    """Cancel a booking, what is planned for it, and what waits to go out for it.

    What rules do about the cancellation itself goes ahead.

    Raises:
        NotFound: there is no such booking.
        Conflict: it was declined.
    """
    at = now or utcnow()
    row, changed = moved(
        session, congregation_id, booking_id, BookingStatus.CANCELLED, at
    )
    return ended(session, row, "booking.canceled", at, changed=changed)


def reschedule(
    session: Session,
    congregation_id: UUID | None,
    booking_id: str,
    start_time: datetime,
    end_time: datetime | Unset | None = UNSET,
    timezone: str | Unset | None = UNSET,
    *,
    now: datetime | None = None,
) -> Changed[Booking]:
    """Move a booking to another time, and its planned jobs with it.

    Without ``end_time`` it keeps its length.

    Raises:
        NotFound: there is no such booking.
        Conflict: it is declined or cancelled.
        InvalidInput: a date is wrong.
    """
    values = {"start_time": start_time, "end_time": end_time, "timezone": timezone}
    given = {name: value for name, value in values.items() if value is not UNSET}
    clean = fields.checked(given, CHECKS)
    of = known_congregation(session, congregation_id)
    row = rows.required_row(session, Booking, of, booking_id)
    if row.status not in LIVING:
        raise Conflict(
            f"booking_{row.status}", f"The booking is {row.status}; it cannot move."
        )
    return change(session, row, clean, now or utcnow())


def save_booking(
    session: Session,
    congregation_id: UUID | None,
    booking_id: str,
    *,
    now: datetime | None = None,
    **values: Unpack[BookingValues],
) -> Changed[Booking]:
    """Create a requested booking, or change the fields that are given.

    A changed start of a living booking is a move: see ``reschedule``.

    Raises:
        InvalidInput: a value cannot be accepted, or a needed one is missing.
        NotFound: the podcast is not known.
        Conflict: it belongs to another podcast.
    """
    at = now or utcnow()
    clean = fields.checked(values, CHECKS)
    of = known_congregation(session, congregation_id)
    row = rows.locked(session, Booking, of, checked_id(booking_id, "id"))
    if row is None:
        rows.needed(clean, "podcast_id", "start_time")
        rows.refuse_unknown_podcast(session, of, clean["podcast_id"])
        refuse_dates(clean["start_time"], clean.get("end_time"))
        row, created = rows.create(session, Booking, of, booking_id, clean)
        if created:
            return Changed(row, changed=True, created=True)
    return change(session, row, clean, at)
