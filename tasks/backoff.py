"""How long to wait before the next attempt."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Final

FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(hours=6)

#: Returns a number from 0 to 1; tests pass a constant.
Chance = Callable[[], float]


def ceiling(failures: int) -> timedelta:
    """Return the longest wait after ``failures`` failures: 30 s, doubled each time.

    >>> [str(ceiling(failures)) for failures in (1, 2, 5, 60)]
    ['0:00:30', '0:01:00', '0:08:00', '6:00:00']

    Args:
        failures: Failures so far, counted from 1.

    Raises:
        ValueError: ``failures`` is below 1; nothing has failed yet.
    """
    if failures < 1:
        raise ValueError(f"failures count from 1, got {failures}")
    doublings = min(failures - 1, 20)  # far past the cap; keeps the number small
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def wait_after(
    failures: int,
    *,
    at_least: timedelta | None = None,
    chance: Chance = random.random,
) -> timedelta:
    """Return the wait before the next attempt, with full jitter.

    Full jitter spreads those that failed together: each waits a random part of the
    ceiling.  ``at_least`` is what the other side asked for (Retry-After); ``None``:
    it asked for nothing.
    """
    return max(ceiling(failures) * chance(), at_least or timedelta(0))
