"""Draining on both databases: executions from pending to succeeded, against bare SQL.

The race against other queues is in ``bench.contest``.
"""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.synchronize import Barrier
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Engine, func, make_url, select
from sqlalchemy.engine import URL

from bench import report, servers, traces
from bench.report import Pair
from bench.settings import N_JOBS, ROUNDS, say
from bench.traces import Trace
from bench.world import World, add_pending, make_bench, make_world
from tasks import queue
from tasks.clock import utcnow
from tasks.db import make_engine, sessions
from tasks.models.execution import Execution, ExecutionState
from tasks.registry import lane

#: Executions inserted in one transaction while the backlog is made.
_CHUNK: Final = 1_000
#: Rows of one transaction on the bare side.
_BARE_BATCH: Final = 200
#: What the lane changes in a row when it claims it, and when it is done.
_CLAIM: Final = (
    "UPDATE executions SET state = 'running', attempt = attempt + 1, worker = 'bare',"
    " lease_until = run_at WHERE id = ?"
)
_SETTLE: Final = (
    "UPDATE executions SET state = 'succeeded', settled_at = run_at, worker = NULL,"
    " lease_until = NULL WHERE id = ?"
)


def fill(engine: Engine, world: World, n: int) -> None:
    """Make a backlog of ``n`` due executions; not part of what is measured."""
    for start in range(0, n, _CHUNK):
        numbers = range(start, min(start + _CHUNK, n))
        with sessions(engine).begin() as session:
            add_pending(session, world, numbers, utcnow())


def fill_and_ring(engine: Engine, world: World, n: int, n_workers: int) -> None:
    """Make a backlog and ring once for each worker process."""
    fill(engine, world, n)
    for _ in range(n_workers):
        queue.ring("executions")


def drain(url: URL, n: int, processes: int) -> float:
    """Drain the backlog of ``n`` in so many processes; returns executions/s.

    Raises:
        RuntimeError: not every execution ended as succeeded.
    """
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes + 1)
    done = context.Barrier(processes + 1)
    address = url.render_as_string(hide_password=False)
    workers = [
        context.Process(target=_work, args=(address, ready, done))
        for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    ready.wait(60)
    started = time.perf_counter()
    done.wait(600)
    seconds = time.perf_counter() - started
    for worker in workers:
        worker.join(60)
    _check(url)
    return n / seconds


def _work(address: str, ready: Barrier, done: Barrier) -> None:
    engine = make_engine(make_url(address))
    bench, executions = make_bench(engine), lane("executions")
    with bench.begin() as session:  # the connection is made before the clock runs
        session.scalar(select(1))
    ready.wait(60)
    while executions.sweep(bench, executions.batch).is_full:
        pass
    done.wait(600)
    engine.dispose()


def _check(url: URL) -> None:
    engine = make_engine(url)
    with sessions(engine)() as session:
        left = session.scalar(
            select(func.count())
            .select_from(Execution)
            .where(Execution.state != ExecutionState.SUCCEEDED)
        )
    engine.dispose()
    if left:
        raise RuntimeError(f"{left} executions did not succeed")


def trace_of(engine: Engine, world: World) -> Trace:
    """Drain one execution and learn which rows that adds."""
    fill(engine, world, 1)
    bench, executions = make_bench(engine), lane("executions")
    return traces.learn(engine, lambda: executions.sweep(bench, executions.batch))


def drain_bare(engine: Engine, trace: Trace, n: int) -> float:
    """Write for ``n`` executions what the lane writes, and nothing else; rows/s.

    One transaction to claim a batch, one to settle it and to add the other rows.
    """
    connection = engine.raw_connection()
    cursor = connection.cursor()
    is_postgres = engine.dialect.name == "postgresql"
    due = f"SELECT id FROM executions WHERE state = 'pending' LIMIT {_BARE_BATCH}"  # noqa: S608  # a number
    claim, settle = (
        each.replace("?", "%s") if is_postgres else each for each in (_CLAIM, _SETTLE)
    )
    started = time.perf_counter()
    while ids := _fetch(cursor, due):
        _write(connection, [(claim, ids)])
        rows = [trace.row({"executions": UUID(str(id_))}) for (id_,) in ids]
        added = [
            (statement, [row[table] for row in rows])
            for table, statement in trace.statements.items()
        ]
        _write(connection, [(settle, ids), *added])
    seconds = time.perf_counter() - started
    connection.close()
    return n / seconds


def _fetch(cursor: Any, statement: str) -> list[Any]:  # noqa: ANN401  # untyped
    cursor.execute(statement)
    rows: list[Any] = cursor.fetchall()
    cursor.connection.rollback()
    return rows


def _write(connection: Any, steps: Sequence[tuple[str, Sequence[Any]]]) -> None:  # noqa: ANN401  # untyped
    cursor = connection.cursor()
    if isinstance(connection.driver_connection, sqlite3.Connection):
        cursor.execute("BEGIN IMMEDIATE")
    for statement, rows in steps:
        cursor.executemany(statement, rows)
    connection.commit()


def _pairs(engine: Engine, url: URL, world: World) -> list[Pair]:
    trace = trace_of(engine, world)
    titles = {1: "drain, 1 process", 2: "drain, 2 processes"}
    pairs = {n: Pair(title) for n, title in titles.items()}
    for number in range(ROUNDS):
        fill(engine, world, N_JOBS)
        other = drain_bare(engine, trace, N_JOBS)
        for processes, pair in pairs.items():
            fill(engine, world, N_JOBS)
            pair.ours.append(drain(url, N_JOBS, processes))
            pair.other.append(other)
            say(f"  {number + 1}: {pair.last()}")
    return list(pairs.values())


def measure() -> str:
    """Return the table of both databases."""
    lines = []
    for database in ("PostgreSQL", "SQLite"):
        with ExitStack() as stack:
            url = servers.empty(stack, database)
            engine = make_engine(url)
            world = make_world(engine)
            lines += [(database, *pair.line()) for pair in _pairs(engine, url, world)]
            engine.dispose()
    head = ("Database", "What", "Carillon/s, median (range)", "bare/s", "ratio")
    told = f"{N_JOBS:,} executions of an e-mail rule; only the mail server is left out."
    return f"{told}\n\n" + report.table(head, lines)
