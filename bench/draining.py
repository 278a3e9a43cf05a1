"""Draining: no-op executions from pending to succeeded, with their attempts."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.synchronize import Barrier
from typing import Any, Final

from sqlalchemy import Engine, func, make_url, select
from sqlalchemy.engine import URL

from bench.world import World, add_pending, make_bench
from tasks import queue
from tasks.clock import utcnow
from tasks.db import make_engine, sessions
from tasks.models.execution import Execution, ExecutionState
from tasks.registry import lane

#: Executions inserted in one transaction while the backlog is made.
_CHUNK = 1_000


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


def _fetch(cursor: Any, statement: str) -> list[Any]:  # noqa: ANN401  # untyped
    cursor.execute(statement)
    rows: list[Any] = cursor.fetchall()
    return rows


#: What the lane writes for each execution, from its claim to its end.
_BARE: Final = (
    "UPDATE executions SET state = 'running', attempt = attempt + 1, worker = 'bare',"
    " lease_until = run_at WHERE id = ?",
    "INSERT INTO attempts (congregation_id, execution_id, number, worker, started_at)"
    " SELECT congregation_id, id, attempt, worker, run_at FROM executions WHERE id = ?",
    "UPDATE attempts SET effect_started_at = started_at WHERE execution_id = ?",
    "INSERT INTO execution_messages (congregation_id, execution_id, message,"
    " composed_at) SELECT congregation_id, execution_id, context, CURRENT_TIMESTAMP"
    " FROM execution_contexts WHERE execution_id = ?",
    "UPDATE executions SET state = 'succeeded', settled_at = run_at, worker = NULL,"
    " lease_until = NULL WHERE id = ?",
    "UPDATE attempts SET finished_at = started_at, outcome = 'succeeded'"
    " WHERE execution_id = ?",
)
#: Statements of one transaction: claim, mark, settle.
_STEPS: Final = (_BARE[:2], _BARE[2:4], _BARE[4:])


def drain_bare(engine: Engine, n: int, batch: int) -> float:
    """Write for ``n`` executions what the lane writes, and nothing else; rows/s.

    No guard, no message, no context: the floor that no engine can go below.
    """
    connection = engine.raw_connection()
    cursor = connection.cursor()
    is_sqlite = engine.dialect.name == "sqlite"
    due = f"SELECT id FROM executions WHERE state = 'pending' LIMIT {batch}"  # noqa: S608  # a number
    started = time.perf_counter()
    while ids := _fetch(cursor, due):
        for step in _STEPS:
            if is_sqlite:
                cursor.execute("BEGIN IMMEDIATE")
            for statement in step:
                cursor.executemany(
                    statement if is_sqlite else statement.replace("?", "%s"), ids
                )
            connection.commit()
    seconds = time.perf_counter() - started
    connection.close()
    return n / seconds
