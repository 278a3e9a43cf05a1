"""What narrows a list of events, for pages and for replays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from tasks.models import Event
from tasks.operations.event_subjects import about
from tasks.operations.matching import as_json
from tasks.search.events import event_conditions


@dataclass(frozen=True, slots=True)
class EventMatching:
    """Which events are meant; what is None or empty narrows nothing."""

    type: str = ""
    congregation_id: UUID | None = None
    podcast_id: str | None = None
    booking_id: str = ""
    text: str = ""  # see ``event_subjects.about``
    query: str = ""  # ``field:value`` terms, see ``tasks.search``
    since: datetime | None = None  # heard of
    until: datetime | None = None  # heard of; not included

    @property
    def is_empty(self) -> bool:
        """Whether every event is meant."""
        return self == EventMatching()

    def bounds(self) -> Iterator[ColumnElement[bool]]:
        """Yield what an index finds the newest by, of what makes an event meant."""
        if self.congregation_id is not None:
            yield Event.congregation_id == self.congregation_id
            if self.booking_id:
                yield Event.booking_id == self.booking_id
        if self.since is not None:
            yield Event.created_at >= self.since
        if self.until is not None:
            yield Event.created_at < self.until

    def as_json(self) -> dict[str, str]:
        """Return what is set, for the audit log."""
        return as_json(self)


def events_that_match(
    session: Session, matching: EventMatching
) -> Iterator[ColumnElement[bool]]:
    """Yield what makes an event one that is meant; names are looked up at once.

    Raises:
        InvalidInput: ``bad_search``.
    """
    others = list(_simple(session, matching))
    yield from others
    if matching.query:
        yield from event_conditions(session, matching.query, others)


def _simple(session: Session, matching: EventMatching) -> Iterator[ColumnElement[bool]]:
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
        yield about(session, matching.text)
