"""The worker: one process, one consumer for every lane, health, and a clean end."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Final

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from tasks import heap, queue
from tasks.assembly import make_bench
from tasks.awake import AwakeClock
from tasks.config import Config
from tasks.consumer import LaneConsumer
from tasks.db import make_engine
from tasks.executing.hosts import Hosts
from tasks.executing.settling import settle
from tasks.executing.verdicts import release
from tasks.health import HealthServer
from tasks.held import renew
from tasks.lane import Lane
from tasks.meters import watch
from tasks.models.lane import LaneSetting, LaneTrigger, WorkerState
from tasks.pool import LanePool
from tasks.presence import Presence
from tasks.registry import LANES
from tasks.registry import lane as find_lane
from tasks.runner import run_lane
from tasks.views.reading import ViewReader

logger = logging.getLogger(__name__)

#: How often the worker looks at its lanes' settings.
_LOOK_SECONDS: Final = 1.0
#: How often it tells that it lives.
_BEAT_SECONDS: Final = 5.0
#: How long a database that does not answer is waited for at the start.
_START_PATIENCE_SECONDS: Final = 60.0

#: Makes what counts the rows of saved views, in a database.
ReaderOf = Callable[[Engine], ViewReader]


@dataclass(slots=True)
class _Due:
    """When something is to be done again, by the monotonic clock."""

    every: float  # seconds
    at: float = 0.0

    def is_now(self) -> bool:
        if time.monotonic() < self.at:
            return False
        self.at = time.monotonic() + self.every
        return True


class Worker:
    """Runs the given lanes until it is told to stop."""

    def __init__(
        self,
        config: Config,
        lanes: Sequence[Lane],
        views_of: ReaderOf | None = None,
    ) -> None:
        self._config = config
        self._engine = make_engine(
            config.database_url,
            pool_size=20,
            max_overflow=40,
            loop_rate=config.loop_rate,
        )
        self._awake = AwakeClock()
        views = views_of(self._engine) if views_of else None
        self._bench = replace(
            make_bench(config, self._engine, views), hosts=Hosts(self._awake)
        )
        self._stop = threading.Event()
        self._is_asked_to_stop = False
        queue.configure(config)
        self._pools = [self._pool(lane) for lane in lanes]
        self._consumers = [LaneConsumer(pool) for pool in self._pools]
        self._presence = Presence(self._bench, self._pools)
        self._health = HealthServer(
            (config.health_host, config.health_port),
            self._ailments,
            self._bench.meters.text,
        )
        watch(self._bench.meters, self._bench.begin, self._bench.clock, lanes)

    @property
    def health_port(self) -> int:
        """The port that ``/livez`` and ``/readyz`` really listen on."""
        return self._health.port

    def stop(self) -> None:
        """Begin the clean end soon; safe from a signal handler or another thread.

        A signal handler may interrupt the very thread that holds the lock of an event:
        setting the event there would wait for ever.  So this only leaves a note.
        """
        self._is_asked_to_stop = True

    def run(self) -> None:
        """Work until ``stop``, then finish what is held and give back the rest.

        Raises:
            SQLAlchemyError: the database did not answer for a minute at the start.
        """
        self._health.start()
        self._awake.start()
        self._wait_for_database()
        self._presence.announce(WorkerState.RUNNING)
        for consumer in self._consumers:
            consumer.start()
        logger.info(
            "worker.started", extra={"lanes": [p.lane.name for p in self._pools]}
        )
        self._watch(until=self._stop)
        self._drain()

    def _pool(self, lane: Lane) -> LanePool:
        if lane.every_setting is not None:
            lane = replace(lane, every=getattr(self._config, lane.every_setting))

        def run(trigger: LaneTrigger) -> bool:
            ran = run_lane(lane, self._bench, trigger)
            return ran is not None and ran.is_full and not self._stop.is_set()

        return LanePool(lane, run, workers=lane.workers)

    def _wait_for_database(self) -> None:
        deadline = time.monotonic() + _START_PATIENCE_SECONDS
        while True:
            try:
                self._bench.clock()
                self._obey_settings()
                return
            except SQLAlchemyError:
                if time.monotonic() > deadline or self._is_asked_to_stop:
                    raise
                time.sleep(1.0)
                logger.warning("worker.waits_for_database")

    def _watch(self, *, until: threading.Event, deadline: float = float("inf")) -> None:
        """Renew leases, obey settings and tell that we live, until the event is set."""
        leases = _Due(self._config.lease.total_seconds() / 4)
        settings, beat = _Due(_LOOK_SECONDS), _Due(_BEAT_SECONDS)
        while time.monotonic() < deadline:
            if self._is_asked_to_stop:
                self._stop.set()
            if until.is_set():
                return
            try:
                if leases.is_now():
                    self._renew_leases()
                if settings.is_now() and not self._stop.is_set():
                    self._obey_settings()
                if beat.is_now():
                    self._presence.beat()
            except SQLAlchemyError:
                # Leases outlive a short outage; the next round tries again.
                logger.warning("worker.database_away", exc_info=True)
            until.wait(0.1)

    def _renew_leases(self) -> None:
        if claims := self._bench.held.current():
            with self._bench.begin() as session:
                renew(session, claims, until=self._bench.clock() + self._config.lease)

    def _obey_settings(self) -> None:
        with self._bench.begin() as session:
            rows = session.execute(select(LaneSetting.lane, LaneSetting.workers)).all()
        wanted = {row.lane: row.workers for row in rows}
        for pool in self._pools:
            workers = wanted.get(pool.lane.name) or pool.lane.workers
            if workers != pool.workers:
                pool.resize(workers)

    def _drain(self) -> None:
        """Take nothing new, finish for a while, release the rest."""
        self._bench.stopping.set()
        self._try(lambda: self._presence.announce(WorkerState.DRAINING))
        for consumer in self._consumers:
            consumer.silence()
        for pool in self._pools:
            pool.close()
        ended = threading.Event()
        deadline = time.monotonic() + self._config.shutdown_grace.total_seconds()
        joiner = threading.Thread(
            target=self._join, args=(deadline, ended), daemon=True, name="drain"
        )
        joiner.start()
        self._watch(until=ended, deadline=deadline)
        self._try(self._release_rest)
        self._try(lambda: self._presence.announce(WorkerState.STOPPED))
        self._health.stop()
        logger.info("worker.stopped")

    def _join(self, deadline: float, ended: threading.Event) -> None:
        swept = all(pool.join(deadline) for pool in self._pools)
        if swept and self._bench.stragglers.join(deadline):
            ended.set()

    def _release_rest(self) -> None:
        """Give back what is still under way; its late result will meet the fence."""
        claims = self._bench.held.current()
        if not claims:
            return
        now = self._bench.clock()
        with self._bench.begin() as session:
            settle(
                session,
                [release(claim, now) for claim in claims],
                worker=self._bench.worker,
                now=now,
            )
        logger.warning("worker.released", extra={"n": len(claims)})

    @staticmethod
    def _try(step: object) -> None:
        assert callable(step)  # noqa: S101  # narrows the type
        try:
            step()
        except SQLAlchemyError:
            # The end must come; leases lapse and rescue repairs what is left.
            logger.warning("worker.database_away", exc_info=True)

    def _ailments(self) -> list[str]:
        """Return what keeps the worker from being ready; empty means ready."""
        if self._stop.is_set():
            return ["draining"]
        ailing = [
            f"lane {each.pool.lane.name} does not run"
            for each in self._consumers
            if not each.is_alive
        ]
        return ailing + self._presence.ailments()


def main(
    config: Config,
    lanes: Sequence[str] | None = None,
    views_of: ReaderOf | None = None,
) -> None:
    """Run the worker in the foreground until SIGTERM or SIGINT.

    Args:
        lanes: Names of the lanes to run; ``None``: all of the registry.
        views_of: Makes what counts the rows of saved views.

    Raises:
        UnknownLane: a name is not in the registry.
        OSError: the health port is taken.
    """
    chosen = LANES if lanes is None else tuple(find_lane(name) for name in lanes)
    worker = Worker(config, chosen, views_of)

    def stop(_signum: int, _frame: FrameType | None) -> None:
        worker.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    heap.set_aside()
    worker.run()
    # Threads that still act would hold the process; their rows are given back.
    logging.shutdown()
    os._exit(0)
