"""What is under way for long: seen to its end in a thread of its own.

So a sweep ends when only such effects are left of it, and its thread works for others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

#: Sweeps whose rest is under way at most; a sweep beyond that waits for its own.
STRAGGLERS_MAX: Final = 64


class Stragglers:
    """The threads that wait for slow effects; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()

    @property
    def is_full(self) -> bool:
        """Whether no more can be handed over."""
        return len(self._threads) >= STRAGGLERS_MAX

    def hand_over(self, see_out: Callable[[], None]) -> None:
        """Run ``see_out`` in a thread of its own; it logs its errors itself."""

        def run() -> None:
            try:
                see_out()
            finally:
                with self._lock:
                    self._threads.discard(thread)

        thread = threading.Thread(target=run, name="straggler", daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def join(self, deadline: float) -> bool:
        """Wait for all until ``deadline``, monotonic; say whether all have ended."""
        while threads := self._current():
            if time.monotonic() >= deadline:
                return False
            threads[0].join(max(0.0, deadline - time.monotonic()))
        return True

    def _current(self) -> list[threading.Thread]:
        with self._lock:
            return list(self._threads)
