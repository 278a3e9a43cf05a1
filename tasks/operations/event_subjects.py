"""Finding events by whom or what they are about: an id, or a name, looked up first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from tasks.idn import in_ascii
from tasks.lookups import among_keys
from tasks.models import Booking, Contact, Engagement, Episode, EpisodeGuest, Event
from tasks.outreach.telling import event_id

#: A search looks at the events of this many bookings, episodes, guests, contacts.
MATCHES_MAX: Final = 200
#: … and of an engagement at the events of this many schedules, the latest first.
SCHEDULES_MAX: Final = 20
_NAMED: Final[Mapping[str, tuple[Any, Any, Any]]] = {
    "booking": (Booking, Booking.guest_name, Event.booking_id),
    "episode": (Episode, Episode.title, Event.episode_id),
    "guest": (EpisodeGuest, EpisodeGuest.name, Event.guest_id),
}
_Finder = Callable[[Session, str, str], Iterator[ColumnElement[bool]]]


def about(session: Session, text: str) -> ColumnElement[bool]:
    """Return what finds the events that a search means.

    Names are looked up first: bookings, episodes and contacts are few, events many.

    Args:
        text: an id, or a part of a name; ``contact:zoe@`` means contacts alone, and so
            do ``booking:``, ``episode:`` and ``guest:``.
    """
    kind, colon, rest = text.partition(":")
    only, wanted = kind.strip().lower(), rest.strip()
    found: list[ColumnElement[bool]] = [Event.external_id == text]
    if colon and only in _FINDERS and wanted:
        found += _FINDERS[only](session, only, wanted)
        return or_(*found)
    if (id_ := _uuid(text)) is not None:
        found.append(Event.id == id_)
    for name, finder in _FINDERS.items():
        found += finder(session, name, text)
    return or_(*found)


def _named(session: Session, kind: str, text: str) -> Iterator[ColumnElement[bool]]:
    model, name, of = _NAMED[kind]
    yield of == text
    keys = session.execute(
        select(model.congregation_id, model.id)
        .where(name.icontains(text, autoescape=True))
        .order_by(model.created_at.desc())
        .limit(MATCHES_MAX)
    )
    pairs = [tuple(key) for key in keys]
    if pairs:
        yield among_keys(session, (Event.congregation_id, of), pairs)


def _of_contacts(
    session: Session, _kind: str, text: str
) -> Iterator[ColumnElement[bool]]:
    """Find what was told of contacts: such an event says its schedule in its id."""
    rows = session.execute(
        select(Engagement.id, Engagement.revision)
        .join(Contact, Contact.id == Engagement.contact_id)
        .where(
            or_(
                Contact.address.startswith(in_ascii(text.lower()), autoescape=True),
                Contact.display_name.icontains(text, autoescape=True),
            )
        )
        .order_by(Engagement.id.desc())
        .limit(MATCHES_MAX)
    )
    ids = [
        event_id(engagement_id, revision)
        for engagement_id, latest in rows
        for revision in range(latest, max(0, latest - SCHEDULES_MAX), -1)
    ]
    if ids:
        yield Event.external_id.in_(ids)


_FINDERS: Final[Mapping[str, _Finder]] = {
    **dict.fromkeys(_NAMED, _named),
    "contact": _of_contacts,
}


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
