"""A booking, an episode or a guest: what things happen to, and are planned for."""

from __future__ import annotations

from typing import Final, Literal
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.triggers import TRIGGERS
from tasks.errors import NotFound
from tasks.models.booking import Booking
from tasks.models.episode import Episode, EpisodeGuest
from tasks.saying import mark, say

Kind = Literal["booking", "episode", "guest"]
Record = Booking | Episode | EpisodeGuest
KINDS: Final[tuple[Kind, ...]] = ("booking", "episode", "guest")
_NONE: Final = {
    "booking": mark("There is no such booking."),
    "episode": mark("There is no such episode."),
    "guest": mark("There is no such guest."),
}
#: Where bookings and episodes stand, in the middle of a sentence.
_STATUS: Final = {
    "requested": mark("requested"),
    "confirmed": mark("confirmed"),
    "declined": mark("declined"),
    "cancelled": mark("cancelled"),
    "draft": mark("draft"),
    "scheduled": mark("scheduled"),
    "published": mark("published"),
}


def kind_of(record: Record) -> Kind:
    """Return what operators call the record."""
    if isinstance(record, Booking):
        return "booking"
    return "episode" if isinstance(record, Episode) else "guest"


def title_of(record: Record) -> str:
    """Return the record's name in the best words that there are."""
    if isinstance(record, Booking):
        return record.guest_name or record.guest_email or record.id
    if isinstance(record, Episode):
        return record.title or record.id
    return record.name or record.email or record.id


def status_word(status: str) -> str:
    """Return where a booking or an episode stands, for the middle of a sentence."""
    return say(_STATUS.get(status, status))


def kinds_about(trigger_type: str) -> tuple[Kind, ...]:
    """Return what records a trigger can be about; all kinds if nobody knows it.

    >>> kinds_about("time.before_recording")
    ('booking', 'episode')
    """
    trigger = TRIGGERS.get(trigger_type)
    if trigger is None:
        return KINDS
    if trigger.reference == "recording":  # of a booking, else of the episode itself
        return ("booking", "episode")
    if trigger.subject == "contact" or trigger.subject == "work":
        return ()  # these are no records that jobs are planned for
    return (trigger.subject,)


def triggers_about(kind: Kind) -> tuple[str, ...]:
    """Return the triggers that can be about a kind of record."""
    return tuple(name for name in TRIGGERS if kind in kinds_about(name))


def find_record(
    session: Session, kind: Kind, congregation_id: UUID, id_: str
) -> Record:
    """Return a record of a congregation.

    Raises:
        NotFound: the session sees none.
    """
    found = None
    if id_.isprintable():  # PostgreSQL refuses NUL even in a question
        found = _get(session, kind, (congregation_id, id_))
    if found is None:
        raise NotFound(f"unknown_{kind}", say(_NONE[kind]))
    return found


def _get(session: Session, kind: Kind, key: tuple[UUID, str]) -> Record | None:
    match kind:
        case "booking":
            return session.get(Booking, key)
        case "episode":
            return session.get(Episode, key)
        case "guest":
            return session.get(EpisodeGuest, key)
