"""How long to wait before the next attempt."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(hours=6)
#: What comes on top of a pause that is kept, at most.
JITTER: Final = 0.2

#: Returns a number from 0 to 1; tests pass a constant.
Chance = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long is waited between two attempts."""

    first: timedelta = FIRST_WAIT  # the longest wait after the first failure
    longest: timedelta = LONGEST_WAIT  # after however many
    #: Whether all of it is waited, and a little more.  Where there are few attempts, a
    #: random part of it could use them up within a second.
    is_kept: bool = False


#: What holds where nothing else is said.
USUAL: Final = Pauses()


def ceiling(failures: int, pauses: Pauses = USUAL) -> timedelta:
    """Return the longest wait after ``failures`` failures: the first, then doubled.

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
    return min(pauses.first * (1 << doublings), pauses.longest)


def wait_after(
    failures: int,
    *,
    pauses: Pauses = USUAL,
    at_least: timedelta | None = None,
    chance: Chance = random.random,
) -> timedelta:
    """Return the wait before the next attempt, with jitter.

    Full jitter spreads those that failed together: each waits a random part of the
    ceiling.  A pause that is kept is spread by what comes on top.  ``at_least`` is what
    the other side asked for (Retry-After); ``None``: it asked for nothing.
    """
    part = 1 + JITTER * chance() if pauses.is_kept else chance()
    wait = min(ceiling(failures, pauses) * part, pauses.longest)
    return max(wait, at_least or timedelta(0))
