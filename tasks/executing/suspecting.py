"""When to look for executions that are suspected of crashes: seldom, they are rare."""

from __future__ import annotations

import time
from typing import Final

#: A claim looks for a suspect this often, in seconds; at once after it found one.
LOOK_SECONDS: Final = 0.5


class SuspectLooks:
    """The looks of one process.  Threads may look twice at once, which is harmless."""

    def __init__(self, every: float = LOOK_SECONDS) -> None:
        self._every = every
        self._next_at = 0.0

    def is_time(self) -> bool:
        """Return whether the next claim should look."""
        return time.monotonic() >= self._next_at

    def looked(self, *, found: bool) -> None:
        """Note a look: after a suspect there may be another."""
        self._next_at = 0.0 if found else time.monotonic() + self._every
