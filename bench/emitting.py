"""Emitting: events through the engine, against the same rows written bare.

Beside it stands what SQLAlchemy alone takes for those rows, within a savepoint of a
session: what no producer that has a session can be quicker than.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Engine, insert

from bench import report, servers, traces
from bench.report import Pair
from bench.settings import N_EVENTS, ROUNDS, say
from bench.traces import Trace, for_core
from bench.world import World, event, make_world
from tasks.automation.events import emit_events
from tasks.db import make_engine, sessions
from tasks.models import Base

#: Events of one transaction, and how many times fewer are emitted that way.
SIZES: Final = {1: 20, 500: 1}
_HEAD: Final = (
    "Database",
    "What",
    "Carillon/s, median (range)",
    "SQLAlchemy alone/s",
    "bare/s",
    "Carillon / bare",
    "SQLAlchemy alone / bare",
)


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


def library_rate(engine: Engine, trace: Trace, n: int, batch: int) -> float:
    """Write the rows of ``n`` events through SQLAlchemy alone; returns events/s."""
    begin, given = sessions(engine).begin, for_core(engine, trace)
    tables = [Base.metadata.tables[name] for name in given.samples]
    inserts = {table: insert(table) for table in tables}
    started = time.perf_counter()
    for _ in range(0, n, batch):
        rows = list(given.rows(batch))
        with begin() as session, session.begin_nested():
            for table, statement in inserts.items():
                names = given.samples[table.name]
                values = [
                    dict(zip(names, row[table.name], strict=True)) for row in rows
                ]
                session.execute(statement, values)
    return n / (time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class Figure:
    """One way of emitting: the engine and SQLAlchemy alone, both against bare."""

    ours: Pair
    library: Pair

    def line(self) -> tuple[str, ...]:
        """Return the figure as cells of a table."""
        title, ours, bare, ratio = self.ours.line()
        _, library, _, floor = self.library.line()
        return title, ours, library, bare, ratio, floor


def _figures(engine: Engine, world: World) -> list[Figure]:
    trace = trace_of(engine, world)
    titles = {size: f"emit, {size} a transaction" for size in SIZES}
    figures = {n: Figure(Pair(title), Pair(title)) for n, title in titles.items()}
    for number in range(ROUNDS):
        for size, fewer in SIZES.items():
            n = max(size, N_EVENTS // fewer)
            figure = figures[size]
            figure.ours.ours.append(engine_rate(engine, world, n, size))
            figure.library.ours.append(library_rate(engine, trace, n, size))
            bare = bare_rate(engine, trace, n, size)
            figure.ours.other.append(bare)
            figure.library.other.append(bare)
            say(f"  {number + 1}: {figure.ours.last()}")
    return list(figures.values())


def measure() -> str:
    """Return the table of both databases."""
    lines = []
    for database in ("PostgreSQL", "SQLite"):
        with ExitStack() as stack:
            engine = make_engine(servers.empty(stack, database))
            world = make_world(engine)
            lines += [(database, *each.line()) for each in _figures(engine, world)]
            engine.dispose()
    return report.table(_HEAD, lines)
