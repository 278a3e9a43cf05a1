"""What may be asked of a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.errors import InvalidInput
from tasks.models import BookingLink, Source

NAME_MAX: Final = 120
SECRET_MIN: Final = 8  # Calendly and Cal.com take any text; shorter ones can be guessed
SECRET_MAX: Final = 200
EVENT_TYPES_MAX: Final = 50
_EVENT_TYPE_MAX: Final = 300


def checked_name(name: str) -> str:
    """Return a name without space around it.

    Raises:
        InvalidInput: it is empty, too long or does not print.
    """
    clean = name.strip()
    if not clean or len(clean) > NAME_MAX or not clean.isprintable():
        raise InvalidInput(
            "bad_name",
            f"Give it a name of 1 to {NAME_MAX} printable letters.",
            field="name",
        )
    return clean


def checked_secret(secret: str) -> str:
    """Return a secret that a service made, without space around it.

    Raises:
        InvalidInput: it is too short, too long, or not plain ASCII.
    """
    clean = secret.strip()
    if (
        not SECRET_MIN <= len(clean) <= SECRET_MAX
        or not clean.isprintable()
        or not clean.isascii()
    ):
        raise InvalidInput(
            "secret_weak",
            f"A secret has {SECRET_MIN} to {SECRET_MAX} letters, digits or signs; "
            "leave the field empty to get a good one.",
            field="secret",
        )
    return clean


def checked_types(
    session: Session, source: Source, types: Mapping[str, str]
) -> dict[str, str]:
    """Return event types that each stand for a booking link of the source's podcast.

    Raises:
        InvalidInput: too many, an odd name, or an unknown booking link.
    """
    if len(types) > EVENT_TYPES_MAX:
        raise _bad_types(f"At most {EVENT_TYPES_MAX} event types can be listed.")
    links = set(
        session.scalars(
            select(BookingLink.id).where(
                BookingLink.congregation_id == source.congregation_id,
                BookingLink.podcast_id == source.podcast_id,
                BookingLink.id.in_(set(types.values())),
            )
        )
    )
    for name, link in types.items():
        if not name or len(name) > _EVENT_TYPE_MAX or not name.isprintable():
            raise _bad_types(f"“{name[:60]}” cannot be the name of an event type.")
        if link not in links:
            raise _bad_types(
                f"The podcast has no booking link “{link[:64]}”; an application has to "
                "make it known first."
            )
    return dict(types)


def _bad_types(sentence: str) -> InvalidInput:
    return InvalidInput("bad_event_types", sentence, field="event_types")
