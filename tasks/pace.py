"""How much to claim at once: as much as can be acted on soon, and no more."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Final

#: A batch should be acted on within about this long, so that nobody waits for it.
TARGET: Final = timedelta(seconds=1)
#: A row that is prepared should be acted on within this.
AHEAD: Final = timedelta(milliseconds=50)
#: Rows that are leased before it is known how long one takes.
UNTRIED: Final = 500
#: How much the newest action counts in the moving average.
_WEIGHT: Final = 0.1


class Pace:
    """A moving average of how long one action takes; safe for several threads.

    A claimed row waits for the rows claimed before it.  With slow actions a full
    batch would keep its last row, and everybody behind it, waiting for minutes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds = 0.0

    def took(self, duration: timedelta) -> None:
        """Note how long one action took."""
        with self._lock:
            self._seconds += _WEIGHT * (duration.total_seconds() - self._seconds)

    def batch(self, *, limit: int, at_once: int) -> int:
        """Return how many rows to claim: ``at_once`` to ``limit``.

        >>> Pace().batch(limit=200, at_once=8)
        200
        """
        with self._lock:
            seconds = self._seconds
        if seconds <= 0:
            return limit
        return _fitting(TARGET.total_seconds() / seconds, limit, at_once)

    def leased(self, n: int) -> int:
        """Return how many of ``n`` rows to lease; the others wait for the next claim.

        >>> Pace().leased(1000)
        500
        """
        with self._lock:
            return n if self._seconds > 0 else min(n, UNTRIED)

    def ahead(self, *, limit: int, at_once: int) -> int:
        """Return how many rows to prepare at once: ``at_once`` to ``limit``.

        As many as begin within ``AHEAD``, so that what was looked at is still true.

        >>> Pace().ahead(limit=200, at_once=8)
        8
        """
        with self._lock:
            seconds = self._seconds
        if seconds <= 0:
            return min(at_once, limit)
        return _fitting(AHEAD.total_seconds() / seconds, limit, at_once)


def _fitting(n_in_turn: float, limit: int, at_once: int) -> int:
    return max(min(at_once, limit), min(int(n_in_turn * at_once), limit))
