"""Values of the public layout in our words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from tasks.congregation.transfer.public_names import NAMES

Object = Mapping[str, Any]
_DAYS: Final = frozenset(
    {
        "birth_date",
        "baptism_date",
        "inactive_on",
        "left_on",
        "started_on",
        "ended_on",
        "due_on",
    }
)
#: Texts that may be null there, and are empty here.
_TEXTS: Final = frozenset(
    {"phone", "address", "email", "notes", "relation", "ip", "name"}
)
_WORDS: Final = frozenset({"kind", "method"})
#: Words that mean ours, where they differ by more than case and hyphens.
_SYNONYMS: Final[Mapping[str, str]] = {"shop": "shops", "hotels": "hotel"}
_GENDERS: Final[Mapping[Any, Any]] = {True: "male", False: "female"}


def renamed(entity: str, said: Object) -> dict[str, Any]:
    """Return what an object says, by our columns; what it does not say is left out."""
    return {
        column: said[theirs]
        for column, theirs in NAMES[entity].items()
        if theirs in said
    }


def converted(column: str, value: Any, zone: ZoneInfo) -> Any:  # noqa: ANN401  # JSON
    """Return a value as our column has it; what is odd stays, for others to refuse."""
    if column in _DAYS:
        return local_day(value, zone)
    if column in _TEXTS:
        return "" if value is None else value
    if column in _WORDS:
        return _word(value)
    if column == "gender" and (value is None or isinstance(value, bool)):
        return _GENDERS.get(value)
    if column == "position":
        return value or 0
    return value


def local_day(value: Any, zone: ZoneInfo) -> Any:  # noqa: ANN401  # JSON
    """Return the day of an instant; at midnight UTC it is that day itself.

    >>> local_day("2026-02-28T23:00:00.000Z", ZoneInfo("Europe/Paris"))
    '2026-03-01'
    >>> local_day("1980-02-29T00:00:00.000Z", ZoneInfo("America/Guadeloupe"))
    '1980-02-29'
    """
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            return value
        moment = moment.astimezone(UTC)
        is_day = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
        return (moment if is_day else moment.astimezone(zone)).date().isoformat()
    except (ValueError, TypeError, OverflowError):
        return value


def is_member(said: Object) -> bool:
    """Whether a user of 1.x is a member: something says so that only members have."""
    signs = ("isPublisher", "isHelder", "isServant", "isAnointed")
    return any(said.get(sign) is True for sign in signs) or any(
        said.get(name) is not None for name in ("baptismDate", "publisherGroupId")
    )


def _word(value: object) -> object:
    if not isinstance(value, str):
        return value
    word = value.strip().lower().replace("-", "_")
    return _SYNONYMS.get(word, word)
