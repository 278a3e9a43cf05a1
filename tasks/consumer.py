"""Huey's consumer, taught to share a process and to poll without its broker."""

from __future__ import annotations

import time
from typing import Any

from huey.consumer import Consumer, Scheduler, Worker

from tasks.models.lane import LaneTrigger
from tasks.pool import LanePool
from tasks.queue import queue_of

#: SQLite's queue is asked this often for bells, in seconds.
_BELL_DELAY = 0.1


class _Listener(Worker):  # type: ignore[misc]  # Huey is untyped
    """Hears bells and passes them on at once, so that none waits behind a sweep."""

    pool: LanePool

    def loop(self, now: object = None) -> None:
        try:
            bell = self.huey.dequeue()
        except Exception:
            # Broken brokers and foreign messages cost latency only: the clock polls.
            self._logger.warning("bell.unreadable", exc_info=True)
            self.stop_flag.wait(1.0)
            return
        if bell is not None:
            self.pool.call(LaneTrigger.DOORBELL)
        elif not self.huey.storage.blocking:
            self.stop_flag.wait(_BELL_DELAY)


class _Clock(Scheduler):  # type: ignore[misc]  # Huey is untyped
    """Polls at the lane's own cadence, past the broker, so that it needs none."""

    pool: LanePool
    due_at: float  # monotonic
    ticked_at: float  # monotonic; shows that the thread lives

    def loop(self, now: object = None) -> None:
        self.ticked_at = time.monotonic()
        if self.ticked_at >= self.due_at:
            every = self.pool.lane.every.total_seconds()
            self.due_at = max(self.due_at + every, self.ticked_at + every / 2)
            self.pool.call(LaneTrigger.CLOCK)
        self.stop_flag.wait(min(1.0, max(0.01, self.due_at - time.monotonic())))


class LaneConsumer(Consumer):  # type: ignore[misc]  # Huey is untyped
    """One lane's consumer: it listens and polls, its pool sweeps."""

    worker_class = _Listener
    scheduler_class = _Clock

    def __init__(self, pool: LanePool) -> None:
        self.pool = pool
        super().__init__(queue_of(pool.lane.name), workers=1, check_worker_health=False)

    def _create_worker(self) -> _Listener:
        worker: _Listener = super()._create_worker()
        worker.pool = self.pool
        return worker

    def _create_scheduler(self) -> _Clock:
        clock: _Clock = super()._create_scheduler()
        clock.pool = self.pool
        clock.due_at = time.monotonic() + self.pool.lane.every.total_seconds()
        clock.ticked_at = time.monotonic()
        self.clock = clock
        return clock

    def _set_signal_handlers(self) -> None:
        """Leave signals to the process, which has several consumers."""

    def start(self) -> None:
        """Sweep once for what came due while nobody was here, then listen and poll."""
        self.pool.call(LaneTrigger.BOOT)
        super().start()

    def silence(self) -> None:
        """Hear no more bells and make no more ticks; the pool goes on."""
        self.stop_flag.set()

    @property
    def is_alive(self) -> bool:
        """Whether both threads and the pool live, and the clock ticked lately."""
        threads: list[Any] = [
            self.scheduler,
            *(thread for _, thread in self.worker_threads),
        ]
        return (
            all(thread.is_alive() for thread in threads)
            and self.pool.is_alive
            and time.monotonic() - self.clock.ticked_at < 10.0
        )
