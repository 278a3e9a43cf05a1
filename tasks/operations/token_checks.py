"""What may be asked of a new API token."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from tasks.errors import InvalidInput
from tasks.saying import mark, say

#: What a token may do, with the sentence that operators read.
SCOPES: Final[Mapping[str, str]] = {
    "events:write": mark("Report events."),
    "records:write": mark(
        "Create and change podcasts, bookings, guests, contacts and more."
    ),
    "records:read": mark("Read these records and what became of events."),
    "webhooks:manage": mark(
        "Add and change webhook endpoints, which hear of every event."
    ),
}
NAME_MAX: Final = 120


def checked_name(name: str) -> str:
    """Return a token's name without space around it.

    Raises:
        InvalidInput: it is empty, too long or does not print.
    """
    name = name.strip()
    if not name:
        raise InvalidInput(
            "name_required",
            say("Give the token a name, such as “Website”."),
            field="name",
        )
    if len(name) > NAME_MAX:
        raise InvalidInput(
            "too_long",
            say("The name may have at most %(max)s letters.", max=NAME_MAX),
            field="name",
        )
    if not name.isprintable():
        raise InvalidInput(
            "control_chars",
            say("The name holds characters that do not print."),
            field="name",
        )
    return name


def check_expiry(expires_at: datetime | None, now: datetime) -> None:
    """Raise unless a token that is made now can be used at all.

    Raises:
        InvalidInput: it would have expired already.
    """
    if expires_at is not None and expires_at <= now:
        raise InvalidInput(
            "expiry_in_past",
            say("The expiry lies in the past; choose a later one."),
            field="expires_at",
        )


def checked_scopes(scopes: Collection[str]) -> list[str]:
    """Return the scopes in our order, each once.

    Raises:
        InvalidInput: there is none, or one is not known.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown:
        raise InvalidInput(
            "unknown_scope",
            say(
                "There is no scope %(scope)s; there are %(scopes)s.",
                scope=repr(unknown[0][:80]),
                scopes=", ".join(SCOPES),
            ),
            field="scopes",
        )
    if not scopes:
        raise InvalidInput(
            "scope_required",
            say("Choose at least one thing that the token may do."),
            field="scopes",
        )
    return [scope for scope in SCOPES if scope in scopes]
