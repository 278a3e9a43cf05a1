"""Reading the Retry-After header, which anybody may fill with anything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

#: No receiver may put us off for longer.
LONGEST: Final = timedelta(hours=24)


def read_retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """Return how long the other side asks to wait; ``None`` when it makes no sense.

    >>> now = datetime(2026, 3, 10, 12, tzinfo=UTC)
    >>> str(read_retry_after("120", now=now))
    '0:02:00'
    >>> str(read_retry_after("9999999", now=now))
    '1 day, 0:00:00'
    >>> read_retry_after("-5", now=now)
    >>> read_retry_after("soon", now=now)
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        wait = timedelta(seconds=int(text[:9]))
    else:
        try:
            at = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return min(wait, LONGEST) if wait > timedelta(0) else None
