"""Instants as operators type them: a day, a minute, or a span from now.

Days and times are those of a clock: of who asks, or of the timezone that is written
behind them, as in ``2026-12-01[Europe/Paris]``.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from tasks.automation.zones import zone_names

_DAY: Final = timedelta(days=1)
#: What is settled does not count from now.
_NOT_USED: Final = datetime(2026, 1, 1, tzinfo=UTC)
_DAYS: Final = {"yesterday": -_DAY, "today": timedelta(0), "tomorrow": _DAY}
_UNITS: Final = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": _DAY,
    "w": timedelta(weeks=1),
}
_FROM_NOW: Final = re.compile(r"([+-])(\d{1,4})([mhdw])")
_ZONED: Final = re.compile(r"(.+)\[([^\[\]]+)\]")
#: No row is older or younger; far inside of what both databases can hold.
_YEARS: Final = range(1970, 2201)
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(2200, 12, 31, tzinfo=UTC)
#: What a time has besides its hour; an offset behind it does not matter.
_TIME: Final = re.compile(r"[Tt ]\d\d(:?\d\d)?(:?\d\d)?")


def span(text: str, now: datetime, zone: tzinfo = UTC) -> tuple[datetime, datetime]:
    """Return where a moment begins, and where what comes after it begins, in UTC.

    >>> noon = datetime(2026, 3, 10, 12, tzinfo=UTC)
    >>> [f"{each:%d %H:%M}" for each in span("2026-03-01", noon)]
    ['01 00:00', '02 00:00']
    >>> [f"{each:%d %H:%M}" for each in span("2026-03-02[Europe/Paris]", noon)]
    ['01 23:00', '02 23:00']
    >>> [f"{each:%d %H:%M}" for each in span("-2h", noon)]
    ['10 10:00', '10 10:00']

    Args:
        text: what was typed.
        now: what counts from now, counts from here.
        zone: by whose clock days and times are meant that name no other.

    Raises:
        ValueError: it is no moment, or lies outside of 1970 to 2200.
    """
    word, zone = _zoned(text, zone)
    if is_instant(word):
        return (_from_now(word.lower(), now),) * 2
    if word.lower() in _DAYS:
        return _day(_on(word, now, zone), zone)
    given = datetime.fromisoformat(word)
    if given.year not in _YEARS:
        raise ValueError("outside of the years that rows can have")
    if _is_day(word):
        return _day(given.date(), zone)
    begin = (given if given.tzinfo else given.replace(tzinfo=zone)).astimezone(UTC)
    return begin, begin + _length(word)


def day_of(text: str) -> date:
    """Return the day that a settled moment is on, by the clock that it names.

    >>> day_of("2026-03-02[Pacific/Noumea]").isoformat()
    '2026-03-02'

    Raises:
        ValueError: as ``span``.
    """
    _, zone = _zoned(text, UTC)
    begin, _ = span(text, _NOT_USED)
    return begin.astimezone(zone).date()


def is_instant(text: str) -> bool:
    """Whether a moment counts from now, and so lasts no time at all."""
    return text.lower() == "now" or _FROM_NOW.fullmatch(text.lower()) is not None


def settled(text: str, now: datetime, zone: tzinfo = UTC) -> str:
    """Return a moment that means the same whenever and to whomever it is read.

    What names no timezone then is meant in UTC.

    >>> noon = datetime(2026, 3, 10, 12, tzinfo=UTC)
    >>> settled("-2h", noon), settled("today", noon)
    ('2026-03-10T10:00:00+00:00', '2026-03-10')
    >>> settled("today", noon, ZoneInfo("Asia/Tokyo"))
    '2026-03-10[Asia/Tokyo]'
    """
    word, zone = _zoned(text, zone)
    if is_instant(word):
        return _from_now(word.lower(), now).isoformat(timespec="seconds")
    if word.lower() in _DAYS:
        word = _on(word, now, zone).isoformat()
    return word if str(zone) == "UTC" else anchored(word, zone)


def anchored(text: str, zone: tzinfo) -> str:
    """Return a moment with its timezone; what counts from now stays as it is.

    >>> anchored("2026-12-01", UTC), anchored("today", UTC), anchored("-2h", UTC)
    ('2026-12-01[UTC]', 'today', '-2h')
    """
    word, zone = _zoned(text, zone)
    if is_instant(word) or word.lower() in _DAYS:
        return text.strip()
    is_plain = _is_day(word) or datetime.fromisoformat(word).tzinfo is None
    return f"{word}[{zone}]" if is_plain else word


def _zoned(text: str, zone: tzinfo) -> tuple[str, tzinfo]:
    """Return a moment without its timezone, and that, or the one that is given.

    Raises:
        ValueError: there is no such timezone.
    """
    word = text.strip()
    if (found := _ZONED.fullmatch(word)) is None:
        return word, zone
    if found[2] not in zone_names():
        raise ValueError("no timezone of this name")
    return found[1], ZoneInfo(found[2])


def _on(word: str, now: datetime, zone: tzinfo) -> date:
    return now.astimezone(zone).date() + _DAYS[word.lower()]


def _day(on: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return a day's midnight and the next one: not all days have 24 hours."""
    begin, end = (datetime.combine(each, time(), zone) for each in (on, on + _DAY))
    return begin.astimezone(UTC), end.astimezone(UTC)


def _is_day(word: str) -> bool:
    return len(word) <= len("2026-03-01")


def _from_now(word: str, now: datetime) -> datetime:
    if (found := _FROM_NOW.fullmatch(word)) is None:
        return now
    away = int(found[2]) * _UNITS[found[3]]
    at = now + away if found[1] == "+" else now - away
    return min(max(at, _FIRST), _LAST)


def _length(word: str) -> timedelta:
    """Return how long a written time lasts: as long as it leaves open.

    >>> [str(_length(f"2026-03-01T{each}")) for each in ("10", "10:00Z", "10:00:00")]
    ['1:00:00', '0:01:00', '0:00:01']
    """
    found = _TIME.search(word)
    if found is None or found[2]:
        return timedelta(seconds=1)
    return timedelta(minutes=1) if found[1] else timedelta(hours=1)
