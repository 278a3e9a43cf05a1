"""How long this process has been awake: time in which it could have noticed things.

A process that was stopped, or a machine that slept, finds that everything took long.
Nobody else is to blame for that time, so it does not count here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

#: A heart beats this often, in seconds.
BEAT_SECONDS: Final = 0.5
#: Between two beats more than this, in seconds, is time that the process slept.
ASLEEP_SECONDS: Final = 2.0


class AwakeClock:
    """A monotonic clock that stands still while the process does not run.

    Until it is started it is an ordinary one.  Safe for several threads.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._beat_at: float | None = None  # None: no heart beats
        self._slept = 0.0

    def __call__(self) -> float:
        """Return the seconds awake since some instant."""
        with self._lock:
            return self._look() - self._slept

    def beat(self) -> None:
        """Say that the process runs; from now on every ``BEAT_SECONDS``."""
        with self._lock:
            self._beat_at = self._look()

    def start(self) -> None:
        """Let a thread of its own be the heart, to the end of the process."""
        self.beat()
        threading.Thread(target=self._live, name="heart", daemon=True).start()

    def _live(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            self.beat()

    def _look(self) -> float:
        """Return now; whoever looks first after a sleep counts it."""
        now = self._monotonic()
        if self._beat_at is not None and now - self._beat_at > ASLEEP_SECONDS:
            self._slept += now - self._beat_at
            self._beat_at = now
        return now
