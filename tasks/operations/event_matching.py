"""What narrows a list of events, for pages and for replays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, or_, select, tuple_
from sqlalchemy.orm import Session

from tasks.models import Booking, Episode, EpisodeGuest, Event
from tasks.operations.matching import as_json

#: A search looks at the events of this many bookings, episodes and guests.
MATCHES_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class EventMatching:
    """Which events are meant; what is None or empty narrows nothing."""

    type: str = ""
    congregation_id: UUID | None = None
    podcast_id: str | None = None
    booking_id: str = ""
    text: str = ""  # an id, or part of the name of what they are about
    since: datetime | None = None  # heard of
    until: datetime | None = None  # heard of; not included

    @property
    def is_empty(self) -> bool:
        """Whether every event is meant."""
        return self == EventMatching()

    def as_json(self) -> dict[str, str]:
        """Return what is set, for the audit log."""
        return as_json(self)


def events_that_match(
    session: Session, matching: EventMatching
) -> Iterator[ColumnElement[bool]]:
    """Yield what makes an event one that is meant; a text is looked up at once."""
    if matching.type:
        yield Event.type == matching.type
    if matching.congregation_id is not None:
        yield Event.congregation_id == matching.congregation_id
    if matching.podcast_id is not None:
        yield Event.podcast_id == matching.podcast_id
    if matching.booking_id:
        yield Event.booking_id == matching.booking_id
    if matching.since is not None:
        yield Event.created_at >= matching.since
    if matching.until is not None:
        yield Event.created_at < matching.until
    if matching.text:
        yield _about(session, matching.text)


def _about(session: Session, text: str) -> ColumnElement[bool]:
    """Return what finds events by an id, or by the name of what they are about.

    Names are looked up first: bookings and episodes are few, events are many.
    """
    names = (
        (Booking, Booking.guest_name, Event.booking_id),
        (Episode, Episode.title, Event.episode_id),
        (EpisodeGuest, EpisodeGuest.name, Event.guest_id),
    )
    found: list[ColumnElement[bool]] = [
        Event.external_id == text,
        *(of == text for _, _, of in names),
    ]
    for model, name, of in names:
        keys = session.execute(
            select(model.congregation_id, model.id)
            .where(name.icontains(text, autoescape=True))
            .order_by(model.created_at.desc())
            .limit(MATCHES_MAX)
        )
        pairs = [tuple(key) for key in keys]
        if pairs:
            found.append(tuple_(Event.congregation_id, of).in_(pairs))
    return or_(*found)
