"""Latency: from the commit of an event to the start of its action."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Engine, select
from sqlalchemy.engine import URL

from bench.world import World, event, make_bench
from tasks import queue
from tasks.automation.actions.base import Done, Effects, Envelope, Outcome
from tasks.automation.events import emit_events
from tasks.config import Config
from tasks.consumer import LaneConsumer
from tasks.db import sessions
from tasks.models.event import Decision
from tasks.models.lane import LaneTrigger
from tasks.pool import LanePool
from tasks.registry import lane
from tasks.runner import run_lane

#: Events a second: a steady trickle, nothing waits for anything.
RATE: Final = 50
#: How long stragglers are waited for, in seconds.
_PATIENCE: Final = 10.0


class _Stopwatch:
    """Notes when each action starts."""

    def __init__(self) -> None:
        self.started: dict[UUID, float] = {}

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        self.started[envelope.execution_id] = time.perf_counter()
        return Done(250)

    post = send


@contextmanager
def worker(
    engine: Engine, url: URL, redis_url: str, folder: Path
) -> Iterator[_Stopwatch]:
    """Run the lane ``executions`` in this process, with bells through Redis."""
    queue.configure(
        Config.from_environ(
            {
                "DATABASE_URL": url.render_as_string(hide_password=False),
                "REDIS_URL": redis_url,
                "VAR_DIR": str(folder),
                "SECRET_KEY": "bench-key-0123456789-abcdefghijklmnop",
            }
        )
    )
    watch, executions = _Stopwatch(), lane("executions")
    bench = replace(make_bench(engine), effects=Effects(watch, watch))

    def run(trigger: LaneTrigger) -> bool:
        ran = run_lane(executions, bench, trigger)
        return ran is not None and ran.is_full

    pool = LanePool(executions, run, workers=executions.workers)
    consumer = LaneConsumer(pool)
    consumer.start()
    try:
        yield watch
    finally:
        consumer.silence()
        for _, listener in consumer.worker_threads:
            listener.join(_PATIENCE)  # or it would miss its Redis
        pool.close()
        pool.join(time.monotonic() + _PATIENCE)


def latencies(
    engine: Engine, world: World, watch: _Stopwatch, seconds: float
) -> list[float]:
    """Emit at ``RATE`` and return commit to action of each event, in ms, ascending.

    Raises:
        RuntimeError: an action did not start in time.
    """
    committed: dict[UUID, float] = {}
    started = time.perf_counter()
    for number in range(int(RATE * seconds)):
        time.sleep(max(0.0, started + number / RATE - time.perf_counter()))
        with sessions(engine).begin() as session:
            [result] = emit_events(session, [event(world, number)])
        if result.event_id is not None:
            committed[result.event_id] = time.perf_counter()
    acted = _acted(engine, watch, committed)
    return sorted(
        (acted[event_id] - committed[event_id]) * 1_000 for event_id in committed
    )


def _acted(
    engine: Engine, watch: _Stopwatch, committed: Mapping[UUID, float]
) -> dict[UUID, float]:
    with sessions(engine)() as session:
        rows = session.execute(select(Decision.event_id, Decision.execution_id))
        events = {ran: told for told, ran in rows if told in committed}
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        acted = {
            event_id: watch.started[execution]
            for execution, event_id in events.items()
            if event_id is not None and execution in watch.started
        }
        if len(acted) == len(committed):
            return acted
        time.sleep(0.05)
    raise RuntimeError(f"{len(acted)} of {len(committed)} actions started")
