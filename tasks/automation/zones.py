"""IANA timezones: which one applies, and when a wall clock shows a given time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the names of all timezones."""
    return frozenset(available_timezones())


def first_zone(*names: str | None) -> str:
    """Return the first name that is a timezone, else ``UTC``."""
    return next((name for name in names if name and name in zone_names()), "UTC")


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the UTC instant at which clocks of ``zone`` show ``wall`` (naive).

    A time that does not exist (clocks jump over it) gives the first instant after the
    jump; one that exists twice gives the first of both.
    """
    instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == wall:
        return instant
    # Within a gap, fold=1 reads the wall with the offset after the jump, which lies
    # before it, and fold=0 the other way round; the jump itself is between the two.
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return _jump_between(before, instant, zone)


def _jump_between(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        seconds = int((after - before).total_seconds()) // 2
        middle = before + timedelta(seconds=seconds)
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)
