"""Emitting: events through the engine, against the same rows written bare."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Final

from sqlalchemy import Engine

from bench import report, servers, traces
from bench.report import Pair
from bench.settings import N_EVENTS, ROUNDS, say
from bench.traces import Trace
from bench.world import World, event, make_world
from tasks.automation.events import emit_events
from tasks.db import make_engine, sessions

#: Events of one transaction, and how many times fewer are emitted that way.
SIZES: Final = {1: 20, 500: 1}


def engine_rate(engine: Engine, world: World, n: int, batch: int) -> float:
    """Emit ``n`` events, ``batch`` in a transaction; returns events/s.

    Raises:
        RuntimeError: an event did not lead to its execution.
    """
    begin, created = sessions(engine).begin, 0
    started = time.perf_counter()
    for start in range(0, n, batch):
        events = [event(world, number) for number in range(start, start + batch)]
        with begin() as session:
            results = emit_events(session, events)
        created += sum(result.executions_created for result in results)
    seconds = time.perf_counter() - started
    if created < n:
        raise RuntimeError(f"{created} executions came of {n} events")
    return n / seconds


def trace_of(engine: Engine, world: World) -> Trace:
    """Emit one event and learn what it leaves behind."""

    def emit() -> None:
        with sessions(engine).begin() as session:
            emit_events(session, [event(world, 7)])

    return traces.learn(engine, emit)


def bare_rate(engine: Engine, trace: Trace, n: int, batch: int) -> float:
    """Write the rows of ``n`` events, ``batch`` in a transaction; returns events/s."""
    connection = engine.raw_connection()
    cursor = connection.cursor()
    started = time.perf_counter()
    for _ in range(0, n, batch):
        rows = list(trace.rows(batch))
        if engine.dialect.name == "sqlite":
            cursor.execute("BEGIN IMMEDIATE")
        for table, statement in trace.statements.items():
            values = [row[table] for row in rows]
            if batch == 1:
                cursor.execute(statement, values[0])
            else:
                cursor.executemany(statement, values)
        connection.commit()
    seconds = time.perf_counter() - started
    connection.close()
    return n / seconds


def _pairs(engine: Engine, world: World) -> list[Pair]:
    trace = trace_of(engine, world)
    pairs = {size: Pair(f"emit, {size} a transaction") for size in SIZES}
    for number in range(ROUNDS):
        for size, fewer in SIZES.items():
            n = max(size, N_EVENTS // fewer)
            pairs[size].ours.append(engine_rate(engine, world, n, size))
            pairs[size].other.append(bare_rate(engine, trace, n, size))
            say(f"  {number + 1}: {pairs[size].last()}")
    return list(pairs.values())


def measure() -> str:
    """Return the table of both databases."""
    lines = []
    for database in ("PostgreSQL", "SQLite"):
        with ExitStack() as stack:
            engine = make_engine(servers.empty(stack, database))
            world = make_world(engine)
            lines += [(database, *pair.line()) for pair in _pairs(engine, world)]
            engine.dispose()
    head = ("Database", "What", "Carillon/s, median (range)", "bare/s", "ratio")
    return report.table(head, lines)
