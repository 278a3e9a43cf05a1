"""Latency: from the commit of an event to the start of its action.

A producer process, a worker process that has nothing else to do, and the clock that all
processes of a machine share.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from sqlalchemy import Engine, select
from sqlalchemy.engine import URL

from bench import report, servers
from bench.crew import ROOT, Crew
from bench.ours import environment
from bench.producer import RATE
from bench.settings import ROUNDS, say
from bench.world import World, make_world
from tasks.db import make_engine, sessions
from tasks.models import Execution

#: Seconds of events in each round.
ROUND_SECONDS: Final = 5.0
_WARM_SECONDS: Final = 2.0
#: How long stragglers are waited for, in seconds.
_PATIENCE: Final = 20.0
#: Database, and whether bells go by Redis; else by SQLite's own queue.
STACKS: Final = (("PostgreSQL", True), ("SQLite", True), ("SQLite", False))
_HEAD: Final = ("Database, bells by", "Bells", "p50", "p99", "longest", "events")


@dataclass(frozen=True, slots=True)
class Place:
    """An installation with one worker at work."""

    engine: Engine
    world: World
    environ: dict[str, str]
    folder: Path
    crew: Crew

    @property
    def starts(self) -> Path:
        """Where the worker writes which action it began, and when."""
        return self.folder / "starts"


@contextmanager
def installation(url: URL, redis_url: str | None) -> Iterator[Place]:
    """Run one worker process with the lane ``executions`` alone."""
    engine = make_engine(url)
    world = make_world(engine)
    with tempfile.TemporaryDirectory(prefix="carillon-bench-") as name:
        folder = Path(name)
        environ = environment(url, redis_url, folder)
        starts = folder / "starts"
        worker = [sys.executable, "-m", "bench.product", "stopwatch", "executions"]
        with Crew([[*worker, str(starts)]], environ, folder / "log") as crew:
            yield Place(engine, world, environ, folder, crew)
    engine.dispose()


def waits(place: Place, seconds: float, *, bells: bool) -> list[float]:
    """Emit for so long and return commit to action of each event, in ms.

    Raises:
        RuntimeError: an action did not start in time.
    """
    told = place.folder / "events"
    of, rings = str(place.world.congregation_id), str(int(bells))
    subprocess.run(  # noqa: S603  # our own module
        [sys.executable, "-m", "bench.producer", of, str(seconds), str(told), rings],
        env={**os.environ, **place.environ},
        cwd=ROOT,
        check=True,
        timeout=seconds + 60,
    )
    committed = {UUID(id_): float(at) for id_, at in lines_of(told)}
    with sessions(place.engine)() as session:
        made = dict(
            session.execute(
                select(Execution.event_id, Execution.id).where(
                    Execution.event_id.in_(list(committed))
                )
            )
            .tuples()
            .all()
        )
    started = _started(place, set(made.values()))
    return [(started[made[id_]] - at) * 1_000 for id_, at in committed.items()]


def _started(place: Place, wanted: set[UUID]) -> dict[UUID, float]:
    deadline = time.monotonic() + _PATIENCE
    while True:
        place.crew.check()
        found = {UUID(id_): float(at) for id_, at, _ in lines_of(place.starts)}
        if wanted <= found.keys():
            return found
        if time.monotonic() > deadline:
            missing = len(wanted - found.keys())
            raise RuntimeError(f"{missing} of {len(wanted)} actions did not start")
        time.sleep(0.1)


def lines_of(path: Path) -> Iterator[list[str]]:
    """Yield the words of each whole line of a file that is still written to."""
    if path.exists():
        whole, _, _half = path.read_text().rpartition("\n")
        yield from map(str.split, whole.splitlines())


def measure() -> str:
    """Return the table of all stacks, with bells and with every bell lost."""
    lines = []
    for database, has_redis in STACKS:
        with ExitStack() as stack:
            url = servers.empty(stack, database)
            redis_url = stack.enter_context(servers.redis_server())
            place = stack.enter_context(
                installation(url, redis_url if has_redis else None)
            )
            waits(place, _WARM_SECONDS, bells=True)
            for bells in (True, False):
                taken = [
                    wait
                    for _ in range(ROUNDS)
                    for wait in waits(place, ROUND_SECONDS, bells=bells)
                ]
                broker = "Redis" if has_redis else "SQLite"
                title = f"{database}, {broker}"
                lines.append((title, "heard" if bells else "all lost", *_cells(taken)))
                say("  " + " ".join(lines[-1]))
    return f"{RATE} events a second.\n\n" + report.table(_HEAD, lines)


def _cells(taken: list[float]) -> tuple[str, ...]:
    p50, p99, longest = report.quantiles(taken)
    return (f"{p50:.1f} ms", f"{p99:.1f} ms", f"{longest:.1f} ms", f"{len(taken):,}")
