"""The threads of one lane: they sweep when a bell or the clock says so."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from tasks.lane import Lane
from tasks.models.lane import LaneTrigger

#: Runs one lane once; returns whether more is due at once.
Run = Callable[[LaneTrigger], bool]


class LanePool:
    """As many sweeping threads as the lane has workers; their number may change.

    Calls to sweep that come while all threads are busy are kept, up to one for each
    thread: what they would find, the sweeps under way or the kept ones find too.
    """

    def __init__(self, lane: Lane, run: Run, *, workers: int) -> None:
        self.lane = lane
        self._run = run
        self._calls: queue.Queue[LaneTrigger | None] = queue.Queue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._wanted = 0
        self._is_open = True
        self.swept_at: float | None = None  # monotonic; the last sweep that ended
        self.n_sweeps = 0
        self.resize(workers)

    @property
    def workers(self) -> int:
        """How many sweeps may run at once."""
        return self._wanted

    def resize(self, workers: int) -> None:
        """Have ``workers`` threads from now on; one too many ends after its sweep."""
        with self._lock:
            for _ in range(workers, self._wanted):
                self._calls.put(None)
            for number in range(self._wanted, workers):
                thread = threading.Thread(
                    target=self._work,
                    name=f"{self.lane.name}-{number + 1}",
                    daemon=True,
                )
                self._threads.append(thread)
                thread.start()
            self._wanted = workers

    def call(self, trigger: LaneTrigger) -> None:
        """Have the lane swept soon; pointless calls are dropped."""
        if self._is_open and self._calls.qsize() < self._wanted:
            self._calls.put(trigger)

    def close(self) -> None:
        """Take no more calls; the sweeps under way end by themselves."""
        self._is_open = False
        self.resize(0)

    def join(self, deadline: float) -> bool:
        """Wait for the threads until ``deadline``, monotonic; say whether all ended."""
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not self.is_alive

    @property
    def is_alive(self) -> bool:
        """Whether any thread of the pool lives."""
        return any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while (trigger := self._calls.get()) is not None:
            if not self._is_open:
                continue
            is_full = self._run(trigger)
            self.swept_at = time.monotonic()
            self.n_sweeps += 1
            if is_full:
                self.call(trigger)
