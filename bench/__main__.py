"""``python -m bench`` (speed) and ``python -m bench data`` (size)."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.engine import URL

from bench import draining, emitting, latency, report, servers, size
from bench.report import Pair
from bench.world import World, make_world
from tasks.db import make_engine

_NOTE: Final = Path(__file__).parents[1] / "docs" / "benchmarks.md"
ROUNDS: Final = max(5, int(os.environ.get("ROUNDS", "5")))
N_DRAIN: Final = int(os.environ.get("DRAIN", "20000"))
N_EMIT: Final = int(os.environ.get("EMIT", "10000"))
_BATCH: Final = 500
_ONE_BY_ONE: Final = 20  # so many times fewer events
_HEAD: Final = ("What", "Carillon/s, median (range)", "bare/s", "ratio")


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def _emits(engine: Engine, world: World) -> list[Pair]:
    bare = emitting.bare_of(engine, world)
    sizes = {"emit, one a transaction": 1, f"emit, {_BATCH} a transaction": _BATCH}
    pairs = {title: Pair(title, "events") for title in sizes}
    for number in range(ROUNDS):
        for title, batch in sizes.items():
            n = N_EMIT // _ONE_BY_ONE if batch == 1 else N_EMIT
            ours = emitting.engine_rate(engine, world, n, batch)
            other = emitting.bare_rate(engine, bare, n, batch)
            pairs[title].ours.append(ours)
            pairs[title].other.append(other)
            _say(f"  {number + 1}: {title}: {ours:,.0f} against {other:,.0f}")
    return list(pairs.values())


def _drains(engine: Engine, url: URL, world: World) -> list[Pair]:
    titles = {1: "drain, 1 process", 2: "drain, 2 processes"}
    pairs = {n: Pair(title, "executions") for n, title in titles.items()}
    for number in range(ROUNDS):
        draining.fill(engine, world, N_DRAIN)
        other = draining.drain_bare(engine, N_DRAIN, 200)
        for processes, pair in pairs.items():
            draining.fill(engine, world, N_DRAIN)
            ours = draining.drain(url, N_DRAIN, processes)
            pair.ours.append(ours)
            pair.other.append(other)
            _say(f"  {number + 1}: {pair.title}: {ours:,.0f} against {other:,.0f}")
    return list(pairs.values())


def _latency(engine: Engine, url: URL, world: World) -> tuple[str, ...]:
    with (
        servers.redis_server() as redis_url,
        tempfile.TemporaryDirectory(prefix="carillon-bench-") as folder,
        latency.worker(engine, url, redis_url, Path(folder)) as watch,
    ):
        latency.latencies(engine, world, watch, 2)  # warm: connections, statements
        rounds = [latency.latencies(engine, world, watch, 5) for _ in range(ROUNDS)]
    every = sorted(each for taken in rounds for each in taken)
    p50, p99 = every[len(every) // 2], every[int(len(every) * 0.99)]
    _say(f"  latency: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    return (engine.dialect.name, f"{p50:.1f} ms", f"{p99:.1f} ms", str(len(every)))


def speed() -> None:
    """Measure emit, drain and latency, and write them down."""
    bodies, places = [], []
    with ExitStack() as stack:
        for name in ("PostgreSQL", "SQLite"):
            url = _database(stack, name)
            engine = make_engine(url)
            world = make_world(engine)
            _say(name)
            pairs = _emits(engine, world)
            draining.drain(url, 0, 1)
            pairs += _drains(engine, url, world)
            places.append((engine, url, world))
            bodies.append(
                f"### {name}\n\n" + report.table(_HEAD, [pair.line() for pair in pairs])
            )
        # Last, since bells ring from here on.
        waits = [_latency(*place) for place in places]
        head = ("Database", "p50", "p99", "events")
        bodies.append(
            f"### Commit to action, {latency.RATE} events a second, bells by Redis\n\n"
            + report.table(head, waits)
        )
        bodies.append(
            "### Measured on\n\n" + report.machine([engine for engine, _, _ in places])
        )
    report.write(_NOTE, "speed", "\n\n".join(bodies))


def data(n: int) -> None:
    """Measure claim and list with few and with ``n`` finished executions."""
    lines: list[tuple[str, ...]] = []
    with ExitStack() as stack:
        for name in ("PostgreSQL", "SQLite"):
            engine = make_engine(_database(stack, name))
            world = make_world(engine)
            size.add_finished(engine, world, 10_000)
            few = _looks(engine, world)
            size.add_finished(engine, world, n - 10_000)
            many = _looks(engine, world)
            for what, (before, p99_before) in few.items():
                after, p99_after = many[what]
                cells = (
                    f"{before:.1f} / {p99_before:.1f} ms",
                    f"{after:.1f} / {p99_after:.1f} ms",
                    f"**{after / before:.2f}** / {p99_after / p99_before:.2f}",
                )
                lines.append((name, what, *cells))
                _say(" ".join(lines[-1]))
    head = ("Database", "What", "10,000 rows", f"{n:,} rows", "growth")
    body = "Median / p99 of 100.\n\n" + report.table(head, lines)
    report.write(_NOTE, "size", body)


def _looks(engine: Engine, world: World) -> dict[str, tuple[float, float]]:
    return {"claim of 200": size.claim_times(engine, world)} | size.page_times(engine)


def _database(stack: ExitStack, name: str) -> URL:
    if name == "SQLite":
        return stack.enter_context(servers.sqlite())
    server = stack.enter_context(servers.postgres())
    return stack.enter_context(servers.database(server, "bench"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["data"]:
        data(int(sys.argv[2]))
    else:
        speed()
