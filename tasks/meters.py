"""Counters of what this process's lanes do, for Prometheus; ``/metrics`` tells them.

Each worker counts for itself, from its start.  What waits is the database's, so all
workers tell the same of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from tasks.db import Begin, reading

if TYPE_CHECKING:  # the lanes' bench holds meters
    from tasks.clock import Clock
    from tasks.lane import Backlog, Lane

#: The media type of what ``Meters.text`` returns.
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
#: What waits is counted at most so often, however many ask.
BACKLOG_SECONDS: Final = 10.0
#: Rows of a batch that was rolled back; they stay due.
ROLLED_BACK: Final = "rolled_back"
_SWEEP_BUCKETS: Final = (0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300)
_LATENESS_BUCKETS: Final = (1, 5, 15, 60, 150, 300, 600, 1_800, 3_600, 86_400)


class Meters:
    """The counters of one process; safe for several threads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._rows = Counter(
            "carillon_lane_rows",
            "Rows that a lane moved, by what became of them; slow is no end yet.",
            ["lane", "outcome"],
            registry=self.registry,
        )
        self._sweeps = Counter(
            "carillon_lane_sweeps",
            "Sweeps of a lane, by whether they came to their end.",
            ["lane", "result"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "carillon_lane_sweep_seconds",
            "How long sweeps of a lane take.",
            ["lane"],
            buckets=_SWEEP_BUCKETS,
            registry=self.registry,
        )
        self._lateness = Histogram(
            "carillon_lane_lateness_seconds",
            "How long after their instant rows are announced; contact_due only.",
            ["lane"],
            buckets=_LATENESS_BUCKETS,
            registry=self.registry,
        )

    def know(self, lane: str) -> None:
        """Tell of a lane from the start, with zeros."""
        for result in ("ok", "failed"):
            self._sweeps.labels(lane, result)
        self._seconds.labels(lane)

    def swept(self, lane: str, moved: Mapping[str, int], seconds: float) -> None:
        """Note a sweep that came to its end."""
        self._sweeps.labels(lane, "ok").inc()
        self._seconds.labels(lane).observe(seconds)
        self.moved(lane, moved)

    def failed(self, lane: str, seconds: float, n_rows: int | None) -> None:
        """Note a sweep that failed.

        Args:
            n_rows: the rows that it rolled back; None: it does not say.
        """
        self._sweeps.labels(lane, "failed").inc()
        self._seconds.labels(lane).observe(seconds)
        if n_rows:
            self.moved(lane, {ROLLED_BACK: n_rows})

    def moved(self, lane: str, moved: Mapping[str, int]) -> None:
        """Note rows that were moved, also after their sweep had ended."""
        for outcome, n in moved.items():
            self._rows.labels(lane, outcome).inc(n)

    def late(self, lane: str, seconds: Iterable[float]) -> None:
        """Note how late rows were."""
        histogram = self._lateness.labels(lane)
        for each in seconds:
            histogram.observe(max(0.0, each))

    def text(self) -> bytes:
        """Return everything in the text format of Prometheus."""
        return generate_latest(self.registry)


class Backlogs(Collector):
    """What waits for each lane, asked of the database when somebody looks."""

    def __init__(self, begin: Begin, clock: Clock, lanes: Sequence[Lane]) -> None:
        self._begin, self._clock, self._lanes = begin, clock, lanes
        self._lock = threading.Lock()
        self._known: tuple[float, list[Metric]] | None = None

    def describe(self) -> Iterable[Metric]:
        """Return nothing: registering must not ask the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges, of the last ten seconds."""
        with self._lock:
            now = time.monotonic()
            if self._known is None or now - self._known[0] > BACKLOG_SECONDS:
                self._known = (now, self._counted())
            yield from self._known[1]

    def _counted(self) -> list[Metric]:
        is_up = GaugeMetricFamily(
            "carillon_database_up", "Whether the database answered."
        )
        try:
            gauges = self._gauges()
        except SQLAlchemyError:
            # An outage is what somebody looks for here: it must not hide the rest.
            is_up.add_metric([], 0)
            return [is_up]
        is_up.add_metric([], 1)
        return [is_up, *gauges]

    def _gauges(self) -> list[Metric]:
        due = GaugeMetricFamily(
            "carillon_lane_due_rows",
            "Rows that are due, counted up to 10000.",
            labels=["lane"],
        )
        oldest = GaugeMetricFamily(
            "carillon_lane_oldest_due_seconds",
            "Since when the oldest of them is due; 0: nothing waits.",
            labels=["lane"],
        )
        with self._begin() as session:
            reading(session)
            now = self._clock()
            for lane in self._lanes:
                waits = lane.backlog(session, now)
                due.add_metric([lane.name], waits.n_due)
                oldest.add_metric([lane.name], _age(waits, now))
        return [due, oldest]


def watch(meters: Meters, begin: Begin, clock: Clock, lanes: Sequence[Lane]) -> None:
    """Let meters also tell of what waits for lanes, and of the process itself."""
    for lane in lanes:
        meters.know(lane.name)
    meters.registry.register(Backlogs(begin, clock, lanes))
    ProcessCollector(registry=meters.registry)


def _age(waits: Backlog, now: datetime) -> float:
    if waits.oldest_due_at is None:
        return 0.0
    return max(0.0, (now - waits.oldest_due_at).total_seconds())
