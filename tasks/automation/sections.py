"""The sections of a context: one function per record, field by field.

Fields are named one by one, so that a new column (an access token, a note) never
leaks into messages, snapshots and webhooks by itself.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from tasks.automation.zones import first_zone
from tasks.models.base import Json
from tasks.models.booking import Booking
from tasks.models.congregation import Congregation
from tasks.models.episode import Episode, EpisodeGuest
from tasks.models.podcast import Podcast


def local_iso(instant: datetime | None, timezone: str) -> str | None:
    """Return an instant as ISO text in local time, to the second, with its offset."""
    if instant is None:
        return None
    return instant.astimezone(ZoneInfo(timezone)).isoformat(timespec="seconds")


def of_congregation(row: Congregation) -> Json:
    """Return the section ``congregation``."""
    return {
        "name": row.name,
        "slug": row.slug,
        "locale": row.locale,
        "timezone": first_zone(row.timezone),
    }


def of_podcast(row: Podcast, *zones: str | None) -> Json:
    """Return the section ``podcast``."""
    return {
        "id": row.id,
        "title": row.title,
        "slug": row.slug,
        "timezone": first_zone(*zones),
        "host_name": row.host_name,
        "host_email": row.host_email,
    }


def of_booking(row: Booking, *zones: str | None) -> Json:
    """Return the section ``booking``; its own timezone comes before ``zones``."""
    timezone = first_zone(row.timezone, *zones)
    return {
        "id": row.id,
        "guest_name": row.guest_name,
        "guest_email": row.guest_email,
        "guest_phone": row.guest_phone,
        "start_time": local_iso(row.start_time, timezone),
        "end_time": local_iso(row.end_time, timezone),
        "timezone": timezone,
        "meeting_url": row.meeting_url,
        "status": str(row.status),
        "revision": row.revision,
    }


def of_episode(row: Episode, *zones: str | None) -> Json:
    """Return the section ``episode``; its own timezone comes before ``zones``."""
    timezone = first_zone(row.timezone, *zones)
    return {
        "id": row.id,
        "title": row.title,
        "episode_number": row.episode_number,
        "description": row.description,
        "status": str(row.status),
        "recording_at": local_iso(row.recording_at, timezone),
        "scheduled_for": local_iso(row.scheduled_for, timezone),
        "published_at": local_iso(row.published_at, timezone),
        "timezone": timezone,
    }


def of_guest(guest: EpisodeGuest | None, booking: Booking | None) -> Json | None:
    """Return the section ``guest``; a booking tells what the guest's record does not.

    Without a record the person who booked is the guest; ``None``: nobody is known.
    """
    if guest is None and booking is None:
        return None
    booked = (booking.guest_name, booking.guest_email) if booking else ("", None)
    return {
        "id": guest.id if guest else booking and booking.guest_id,
        "name": (guest.name if guest else "") or booked[0],
        "email": (guest.email if guest else None) or booked[1],
    }
