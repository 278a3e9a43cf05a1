"""Picking values out of other people's JSON without trusting any of it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from tasks.automation import fields
from tasks.automation.checks import checked_instant
from tasks.automation.zones import zone_names
from tasks.errors import InvalidInput
from tasks.saying import mark

_EMPTY: Final[Mapping[str, object]] = {}


def parsed(body: bytes) -> Mapping[str, object]:
    """Return the JSON object that ``body`` holds.

    Raises:
        InvalidInput: it holds something else (``json_invalid``).
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            "json_invalid", mark("The body is not valid JSON.")
        ) from error
    if not isinstance(value, dict):
        raise InvalidInput("json_invalid", mark("The body must be a JSON object."))
    return value


def section(value: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the object called ``name``; an empty one when there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else _EMPTY


def items(value: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """Return the objects in the list called ``name``."""
    found = value.get(name)
    if not isinstance(found, list):
        return []
    return [each for each in found if isinstance(each, dict)]


def text(value: object, limit: int, *, lines: bool = False) -> str:
    """Return what is printable in ``value``, cut to ``limit``; empty for other types.

    >>> text("  Zo\\u0065\\u0308\\x00 \\n Lee ", 20)
    'Zoë Lee'
    """
    if not isinstance(value, str):
        return ""
    kept = "\n\t" if lines else ""
    clean = "".join(
        char if char in kept or unicodedata.category(char) not in {"Cc", "Cs"} else " "
        for char in unicodedata.normalize("NFC", value.replace("\r\n", "\n"))
    )
    if not lines:
        clean = " ".join(clean.split())
    return clean.strip()[:limit].rstrip()


def first_text(limit: int, *values: object) -> str:
    """Return the first of the values that is text and not empty, else nothing."""
    return next((found for each in values if (found := text(each, limit))), "")


def moment(value: object, field: str) -> datetime:
    """Return an instant from ISO 8601 text.

    Raises:
        InvalidInput: it is none, or does not say its offset from UTC.
    """
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if found is None:
        raise InvalidInput(
            "bad_date", f"{field} must be a date and time with an offset.", field=field
        )
    return checked_instant(found, field)


def zone_or_none(value: object) -> str | None:
    """Return the name of a timezone; ``None`` when there is no such timezone."""
    return value if isinstance(value, str) and value in zone_names() else None


def url_or_none(*values: object) -> str | None:
    """Return the first value that is a web address; ``None`` when none is."""
    for value in values:
        if not isinstance(value, str) or not value:
            continue
        try:
            return fields.url(value, "meeting_url")
        except InvalidInput:
            continue  # "Zoom" or "Room 3": a place, no address
    return None
