"""What producers hand over is checked here, in the producers' own words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypedDict

from tasks.automation.zones import zone_names
from tasks.errors import InvalidInput
from tasks.models.base import EXTERNAL_ID_MAX, Json
from tasks.saying import say

#: A producer's context may have this many bytes as JSON.
CONTEXT_MAX: Final = 64 * 1024
#: … and this many levels of objects and lists.
DEPTH_MAX: Final = 20
EVENT_ID_MAX: Final = 255
#: Event ids that begin so are our own; producers cannot take them.
OWN_PREFIX: Final = "carillon:"
YEARS: Final = range(1970, 2201)

_ID: Final = re.compile(rf"[A-Za-z0-9_\-.:@]{{1,{EXTERNAL_ID_MAX}}}")
#: Sections that messages read; a producer may give fields of them, nothing else.
_SECTIONS: Final = frozenset({"podcast", "booking", "booking_link", "episode", "guest"})
#: Left out of whatever is stored, wherever it stands.
_SECRETS: Final = frozenset({"access_token"})


class EventIds(TypedDict):
    """The records that an event is about."""

    podcast_id: str | None
    episode_id: str | None
    booking_id: str | None
    guest_id: str | None


def checked_id(value: object, field: str) -> str:
    """Return an id that a producer chose.

    Raises:
        InvalidInput: it has other characters than letters, digits and ``_-.:@``.
    """
    if isinstance(value, str) and _ID.fullmatch(value):
        return value
    raise InvalidInput(
        "bad_id",
        say(
            "%(field)s must be 1 to %(max)s letters, digits or _ - . : @, not "
            "%(value)s.",
            field=field,
            max=EXTERNAL_ID_MAX,
            value=_shown(value),
        ),
        field=field,
    )


#: Of an event of ours that concerns no podcast.
NO_IDS: Final[EventIds] = {
    "podcast_id": None,
    "episode_id": None,
    "booking_id": None,
    "guest_id": None,
}


def checked_ids(
    *,
    podcast_id: object,
    episode_id: object = None,
    booking_id: object = None,
    guest_id: object = None,
) -> EventIds:
    """Return the ids of a producer's call; only the podcast must be there.

    Raises:
        InvalidInput: one is no id.
    """
    return {
        "podcast_id": checked_id(podcast_id, "podcast_id"),
        "episode_id": _id_or_none(episode_id, "episode_id"),
        "booking_id": _id_or_none(booking_id, "booking_id"),
        "guest_id": _id_or_none(guest_id, "guest_id"),
    }


def _id_or_none(value: object, field: str) -> str | None:
    return None if value is None else checked_id(value, field)


def checked_timezone(value: object, field: str = "timezone") -> str | None:
    """Return the name of a timezone; ``None`` stays ``None``.

    Raises:
        InvalidInput: there is no such timezone.
    """
    if value is None or (isinstance(value, str) and value in zone_names()):
        return value
    raise InvalidInput(
        "unknown_timezone",
        say(
            "%(field)s must be a timezone such as Europe/Paris, not %(value)s.",
            field=field,
            value=_shown(value),
        ),
        field=field,
    )


def checked_event_id(value: object) -> str:
    """Return a producer's id of an occurrence.

    Raises:
        InvalidInput: it is too long, not printable, or one of ours.
    """
    if not isinstance(value, str) or not (
        1 <= len(value) <= EVENT_ID_MAX and value.isprintable()
    ):
        raise InvalidInput(
            "bad_event_id",
            f"event_id must be 1 to {EVENT_ID_MAX} printable characters, "
            f"not {_shown(value)}.",
            field="event_id",
        )
    if value.startswith(OWN_PREFIX):
        raise InvalidInput(
            "reserved_event_id",
            f"An event_id must not begin with {OWN_PREFIX!r}; choose another.",
            field="event_id",
        )
    return value


def checked_instant(value: object, field: str) -> datetime:
    """Return an aware instant in UTC.

    Raises:
        InvalidInput: it is no datetime, has no offset, or lies centuries away.
    """
    if not isinstance(value, datetime):
        raise InvalidInput(
            "bad_date",
            say(
                "%(field)s must be a date and time, not %(value)s.",
                field=field,
                value=_shown(value),
            ),
            field=field,
        )
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(
            "naive_datetime",
            say(
                "%(field)s must say its offset from UTC, as in "
                "2026-03-12T14:00:00+01:00.",
                field=field,
            ),
            field=field,
        )
    if value.year not in YEARS:
        raise InvalidInput(
            "date_out_of_range",
            say(
                "%(field)s must lie between %(first)s and %(last)s.",
                field=field,
                first=str(YEARS[0]),
                last=str(YEARS[-1]),
            ),
            field=field,
        )
    return value.astimezone(UTC)


def checked_context(value: object) -> Json:
    """Return a producer's context as plain JSON, with secrets left out.

    Raises:
        InvalidInput: it is no JSON object, too large, too deep, or its known sections
            are no objects.
    """
    if not isinstance(value, Mapping):
        raise _bad_context(f"context must be an object, not {_shown(value)}.")
    clean = _clean(value, 1)
    try:
        size = len(json.dumps(clean, allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError) as error:  # also lone surrogates
        raise _bad_context(f"context cannot be written as JSON: {error}.") from error
    if size > CONTEXT_MAX:
        raise InvalidInput(
            "context_too_large",
            f"context has {size} bytes as JSON; at most {CONTEXT_MAX} are accepted.",
            field="context",
        )
    for name in sorted(_SECTIONS & clean.keys()):
        if not isinstance(clean[name], dict):
            raise _bad_context(f"context.{name} must be an object.")
    return dict(clean)


def _clean(value: Any, depth: int) -> Any:  # noqa: ANN401  # JSON in, JSON out
    if depth > DEPTH_MAX:
        raise _bad_context(f"context has more than {DEPTH_MAX} levels.")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) and "\0" not in key for key in value):
            raise _bad_context("The names in context must be text.")
        return {
            key: _clean(each, depth + 1)
            for key, each in value.items()
            if key.lower() not in _SECRETS
        }
    if isinstance(value, list | tuple):
        return [_clean(each, depth + 1) for each in value]
    if isinstance(value, datetime):
        return checked_instant(value, "A date in context").isoformat()
    if isinstance(value, str) and "\0" in value:
        raise _bad_context("Text in context must not contain NUL characters.")
    return value


def _bad_context(sentence: str) -> InvalidInput:
    return InvalidInput("bad_context", sentence, field="context")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
