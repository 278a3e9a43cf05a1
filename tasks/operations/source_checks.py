"""What may be asked of a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.errors import InvalidInput
from tasks.models import BookingLink, Source
from tasks.saying import say

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
            say("Give it a name of 1 to %(max)s printable letters.", max=NAME_MAX),
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
            say(
                "A secret has %(min)s to %(max)s letters, digits or signs; "
                "leave the field empty to get a good one.",
                min=SECRET_MIN,
                max=SECRET_MAX,
            ),
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
        raise _bad_types(
            say("At most %(max)s event types can be listed.", max=EVENT_TYPES_MAX)
        )
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
            raise _bad_types(
                say("“%(name)s” cannot be the name of an event type.", name=name[:60])
            )
        if link not in links:
            raise _bad_types(
                say(
                    "The podcast has no booking link “%(link)s”; an application "
                    "has to make it known first.",
                    link=link[:64],
                )
            )
    return dict(types)


def _bad_types(sentence: str) -> InvalidInput:
    return InvalidInput("bad_event_types", sentence, field="event_types")
