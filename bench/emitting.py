"""Emitting: events through the engine, against the same rows written bare."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Json
from sqlalchemy import Engine, Table

from bench.world import World, event
from tasks.automation.events import emit_events
from tasks.db import sessions
from tasks.models import Base
from tasks.models.base import new_id

#: What one event leaves behind, parents first.
TABLES: Final = ("events", "executions", "execution_contexts", "decisions")
#: Columns whose values are born with each event.
_BORN: Final = frozenset({"id", "event_id", "execution_id"})
_UNIQUE: Final = frozenset({"external_id", "idempotency_key"})


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
    if created != n:
        raise RuntimeError(f"{created} executions came of {n} events")
    return n / seconds


@dataclass(frozen=True, slots=True)
class Bare:
    """Statements and values that leave what one event leaves, without an engine."""

    statements: Mapping[str, str]
    samples: Mapping[str, Mapping[str, Any]]

    def rows(self, n: int) -> Iterator[dict[str, tuple[Any, ...]]]:
        """Yield the rows of ``n`` events, by table."""
        for _ in range(n):
            ids = {"events": new_id(), "executions": new_id(), "decisions": new_id()}
            yield {
                table: tuple(self._value(table, column, ids) for column in sample)
                for table, sample in self.samples.items()
            }

    def _value(self, table: str, column: str, ids: Mapping[str, UUID]) -> Any:  # noqa: ANN401  # any column's
        sample = self.samples[table][column]
        if column in _UNIQUE:
            return new_id().hex
        if column not in _BORN:
            return sample
        owner = {"id": table, "event_id": "events", "execution_id": "executions"}
        born = ids[owner[column]]
        return born if isinstance(sample, UUID) else born.hex


def bare_of(engine: Engine, world: World) -> Bare:
    """Emit one event and learn from its rows what bare statements have to write."""
    with sessions(engine).begin() as session:
        emit_events(session, [event(world, 0)])
    is_postgres = engine.dialect.name == "postgresql"
    statements, samples = {}, {}
    for name in TABLES:
        table = Base.metadata.tables[name]
        names = ", ".join(table.columns.keys())
        mark = "%s" if is_postgres else "?"
        marks = ", ".join(mark for _ in table.columns)
        statements[name] = f"INSERT INTO {name} ({names}) VALUES ({marks})"  # noqa: S608  # our names
        samples[name] = _sample(engine, table)
    return Bare(statements, samples)


def _sample(engine: Engine, table: Table) -> dict[str, Any]:
    with engine.connect() as connection:
        row = connection.exec_driver_sql(
            f"SELECT * FROM {table.name} LIMIT 1"  # noqa: S608  # a name of ours
        )
        found = dict(row.mappings().one())
    return {
        name: Json(found[name]) if isinstance(found[name], dict) else found[name]
        for name in table.columns.keys()  # noqa: SIM118  # names, not columns
    }


def bare_rate(engine: Engine, bare: Bare, n: int, batch: int) -> float:
    """Write the rows of ``n`` events, ``batch`` in a transaction; returns events/s."""
    connection = engine.raw_connection()
    cursor = connection.cursor()
    started = time.perf_counter()
    for _ in range(0, n, batch):
        rows = list(bare.rows(batch))
        if engine.dialect.name == "sqlite":
            cursor.execute("BEGIN IMMEDIATE")
        for table, statement in bare.statements.items():
            values = [row[table] for row in rows]
            if batch == 1:
                cursor.execute(statement, values[0])
            else:
                cursor.executemany(statement, values)
        connection.commit()
    seconds = time.perf_counter() - started
    connection.close()
    return n / seconds
