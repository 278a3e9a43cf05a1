"""Podcasts and booking links, as producers keep them here.

``congregation_id`` may be ``None`` where the session's scope has only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation import fields, rows
from tasks.automation.checks import checked_id
from tasks.automation.results import Changed
from tasks.automation.scope import known_congregation
from tasks.automation.zone_moves import move_podcast
from tasks.clock import utcnow
from tasks.models.congregation import Congregation
from tasks.models.podcast import BookingLink, Podcast

_CHECKS: Final[Mapping[str, fields.Check]] = {
    "title": fields.text(200, required=True),
    "slug": fields.text(64),
    "timezone": fields.timezone,
    "host_name": fields.text(120),
    "host_email": fields.optional(fields.email),
}
_LINK_CHECKS: Final[Mapping[str, fields.Check]] = {
    "podcast_id": fields.required(checked_id),
    "name": fields.text(200, required=True),
}


class PodcastValues(TypedDict, total=False):
    """Fields of a podcast: absent means unchanged, ``None`` clears."""

    title: str
    slug: str | None
    timezone: str | None
    host_name: str | None
    host_email: str | None


class BookingLinkValues(TypedDict, total=False):
    """Fields of a booking link: absent means unchanged."""

    podcast_id: str  # cannot change later
    name: str


def save_podcast(
    session: Session,
    congregation_id: UUID | None,
    podcast_id: str,
    *,
    now: datetime | None = None,
    **values: Unpack[PodcastValues],
) -> Changed[Podcast]:
    """Create a podcast, or change the fields that are given.

    Another timezone moves the jobs of rules that go by local time.

    Raises:
        InvalidInput: a value cannot be accepted, or the title is missing.
    """
    at = now or utcnow()
    clean = fields.checked(values, _CHECKS)
    of = known_congregation(session, congregation_id)
    row = rows.locked(session, Podcast, of, checked_id(podcast_id, "id"))
    if row is None:
        rows.needed(clean, "title")
        row, created = rows.create(session, Podcast, of, podcast_id, clean)
        if created:
            return Changed(row, changed=True, created=True)
    before = _apply(session, row, clean, at)
    if "timezone" in before:
        house = session.get_one(Congregation, of).timezone
        was = before["timezone"] or house
        move_podcast(session, of, row.id, was, now=at)
    return Changed(row, changed=bool(before))


def save_booking_link(
    session: Session,
    congregation_id: UUID | None,
    link_id: str,
    *,
    now: datetime | None = None,
    **values: Unpack[BookingLinkValues],
) -> Changed[BookingLink]:
    """Create a booking link, or change the fields that are given.

    Raises:
        InvalidInput: a value cannot be accepted, or a needed one is missing.
        NotFound: the podcast is not known.
        Conflict: the link belongs to another podcast.
    """
    at = now or utcnow()
    clean = fields.checked(values, _LINK_CHECKS)
    of = known_congregation(session, congregation_id)
    row = rows.locked(session, BookingLink, of, checked_id(link_id, "id"))
    if row is None:
        rows.needed(clean, "podcast_id", "name")
        rows.refuse_unknown_podcast(session, of, clean["podcast_id"])
        row, created = rows.create(session, BookingLink, of, link_id, clean)
        if created:
            return Changed(row, changed=True, created=True)
    return Changed(row, changed=bool(_apply(session, row, clean, at)))


def _apply(
    session: Session,
    row: Podcast | BookingLink,
    values: Mapping[str, Any],
    now: datetime,
) -> dict[str, Any]:
    before = rows.apply(row, values)
    if before:
        row.updated_at = now
        session.flush()
    return before
