"""Instants as operators type them: a day, a minute, or a span from now."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_DAY: Final = timedelta(days=1)
_DAYS: Final = {"yesterday": -_DAY, "today": timedelta(0), "tomorrow": _DAY}
_UNITS: Final = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": _DAY,
    "w": timedelta(weeks=1),
}
_FROM_NOW: Final = re.compile(r"([+-])(\d{1,4})([mhdw])")
#: No row is older or younger; far inside of what both databases can hold.
_YEARS: Final = range(1970, 2201)


def span(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Return where a moment begins, and where what comes after it begins.

    >>> noon = datetime(2026, 3, 10, 12, tzinfo=UTC)
    >>> [f"{each:%d %H:%M}" for each in span("2026-03-01", noon)]
    ['01 00:00', '02 00:00']
    >>> [f"{each:%d %H:%M}" for each in span("-2h", noon)]
    ['10 10:00', '10 10:00']

    Raises:
        ValueError: it is no moment, or lies outside of 1970 to 2200.
    """
    word = text.strip().lower()
    if is_instant(word):
        return (_from_now(word, now),) * 2
    if word in _DAYS:
        begin = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        begin += _DAYS[word]
        return begin, begin + _DAY
    given = datetime.fromisoformat(text.strip())
    aware = given if given.tzinfo else given.replace(tzinfo=UTC)
    if aware.year not in _YEARS:
        raise ValueError("outside of the years that rows can have")
    begin = aware.astimezone(UTC)
    return begin, begin + _length(text.strip())


def is_instant(text: str) -> bool:
    """Whether a moment counts from now, and so lasts no time at all."""
    return text.lower() == "now" or _FROM_NOW.fullmatch(text.lower()) is not None


def settled(text: str, now: datetime) -> str:
    """Return a moment that means the same whenever it is read.

    >>> settled("-2h", datetime(2026, 3, 10, 12, tzinfo=UTC))
    '2026-03-10T10:00:00+00:00'
    """
    word = text.strip().lower()
    if is_instant(word):
        return _from_now(word, now).isoformat(timespec="seconds")
    return span(word, now)[0].date().isoformat() if word in _DAYS else text


def _from_now(word: str, now: datetime) -> datetime:
    if (found := _FROM_NOW.fullmatch(word)) is None:
        return now
    away = int(found[2]) * _UNITS[found[3]]
    return now + away if found[1] == "+" else now - away


def _length(text: str) -> timedelta:
    """Return how long a written moment lasts: as long as it leaves open."""
    if len(text) <= len("2026-03-01"):
        return _DAY
    time = text[len("2026-03-01T") :]
    return timedelta(minutes=1) if len(time) == len("10:00") else timedelta(seconds=1)
