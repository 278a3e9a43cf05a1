"""Size: what finished executions cost those who look for the others."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Final

from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from bench.world import World, add_pending, make_bench
from dashboard.executions.queries import page
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.lanes.executions import claim
from tasks.models.execution import Execution, ExecutionState
from tasks.operations.matching import Matching

_CHUNK: Final = 100_000
#: Repetitions of each measurement; the slowest but one is its p99.
REPEATS: Final = 100
_NEW_ID: Final = {
    "postgresql": "gen_random_uuid()",
    "sqlite": "lower(hex(randomblob(16)))",
}


def add_finished(engine: Engine, world: World, n: int) -> None:
    """Insert ``n`` succeeded executions, like one that the engine made."""
    with sessions(engine).begin() as session:
        add_pending(session, world, [0], utcnow())
    new_id = _NEW_ID[engine.dialect.name]
    table = Execution.metadata.tables[Execution.__tablename__]
    own = {
        "id": new_id,
        "idempotency_key": f"CAST({new_id} AS VARCHAR(64))",
        "state": "'succeeded'",
        "settled_at": "due_at",
    }
    names = list(table.columns.keys())
    values = ", ".join(own.get(name, f"e.{name}") for name in names)
    statement = text(
        f"INSERT INTO executions ({', '.join(names)}) "  # noqa: S608  # names of ours
        "WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n) "
        f"SELECT {values} FROM n, (SELECT * FROM executions LIMIT 1) AS e"
    )
    for start in range(0, n, _CHUNK):
        with engine.begin() as connection:
            connection.execute(statement, {"n": min(_CHUNK, n - start)})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE")


def claim_times(engine: Engine, world: World) -> tuple[float, float]:
    """Return median and p99 of claiming 200 of 1 000 due executions, in ms."""
    with sessions(engine).begin() as session:
        add_pending(session, world, range(1_000), utcnow())
    bench = make_bench(engine)
    return _times(engine, lambda session: claim(session, bench, limit=200))


def _times(engine: Engine, work: Callable[[Session], object]) -> tuple[float, float]:
    taken = []
    for _ in range(REPEATS):
        with sessions(engine)() as session:
            session.connection()
            started = time.perf_counter()
            work(session)
            taken.append((time.perf_counter() - started) * 1_000)
            session.rollback()
    return statistics.median(taken), sorted(taken)[-2]


def page_times(engine: Engine) -> dict[str, tuple[float, float]]:
    """Return median and p99 of reading the first page of the list, in ms, by list."""
    states = {"all executions": None, "failed executions": ExecutionState.FAILED}
    found = {}
    for name, state in states.items():
        matching = Matching(state=state)

        def read(session: Session, matching: Matching = matching) -> object:
            return page(session, matching, None, 50)

        found[name] = _times(engine, read)
    return found
