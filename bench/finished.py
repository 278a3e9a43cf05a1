"""Rows that are over and done with, by the million, as a year of work leaves them.

They are spread over ten congregations and the last ninety days, oldest first.  For each
ten executions there are an event and a scheduled job that have ended as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Engine, TextClause, text
from sqlalchemy.orm import Session

from bench.scheduling import job_row
from bench.world import World, add_tenant, event
from tasks.automation.events import emit_events
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.models import Base, Event, Execution, ScheduledJob

N_TENANTS: Final = 10
#: Executions for each event and each scheduled job.
TIMES_FEWER: Final = 10
_CHUNK: Final = 100_000
_PAST: Final = timedelta(days=90)
#: What one database says otherwise than the other.
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "postgresql": {
        # An id tells when its row was born; lists rely on it.
        "id": "uuidv7(CAST(:first AS timestamptz) + i * :step * interval '1 second'"
        " - clock_timestamp())",
        "at": "CAST(:first AS timestamptz) + i * :step * interval '1 second'",
    },
    "sqlite": {
        "id": "printf('%012x7%03x8%015x', CAST(:ms + i * :step * 1000 AS integer),"
        " i % 4096, i)",
        "at": "strftime('%Y-%m-%d %H:%M:%f000', :first, (i * :step) || ' seconds')",
    },
}
#: Counts the rows of one congregation; a booking has twenty, in whatever state.
_OWN_NUMBER: Final = f"(i / {N_TENANTS})"
_BOOKING: Final = f"'b' || ({_OWN_NUMBER} / 20)"
#: What differs from row to row; the rest is as in the row that the engine made.
_OWN: Final[Mapping[str, Mapping[str, str]]] = {
    "executions": {
        "idempotency_key": "'00000000-0000-7000-8000-000000000000:booking.confirmed:'"
        " || 'show:::2026-03-10:' || i",
        "state": f"CASE {_OWN_NUMBER} % 20 WHEN 0 THEN 'failed' WHEN 1 THEN 'skipped'"
        " ELSE 'succeeded' END",
        "booking_id": _BOOKING,
        "attempt": "1",
    },
    "scheduled_jobs": {
        "idempotency_key": "'time_trigger:00000000-0000-7000-8000-000000000000:' || i",
        "state": f"CASE {_OWN_NUMBER} % 20 WHEN 0 THEN 'cancelled'"
        " ELSE 'dispatched' END",
        "booking_id": _BOOKING,
    },
    "events": {"external_id": "'bench-' || i", "booking_id": _BOOKING},
}
_INSTANTS: Final = ("created_at", "due_at", "run_at", "settled_at", "occurred_at")


def archive(engine: Engine, world: World, n_final: int) -> Archive:
    """Add nine congregations beside ``world``, and one row of each kind to copy."""
    with sessions(engine).begin() as session:
        worlds = [
            world,
            *(add_tenant(session, f"bench-{n}") for n in range(1, N_TENANTS)),
        ]
        emit_events(session, [event(each, 0) for each in worlds])
        for each in worlds:
            assert each.rule_id is not None  # noqa: S101  # narrows the type
            job = job_row(each, each.rule_id, 0, utcnow())
            session.add(ScheduledJob(**job, state="dispatched"))
        session.flush()
        for model in (Event, Execution, ScheduledJob):
            _keep_samples(session, model)
        session.execute(text("UPDATE executions SET state = 'succeeded'"))
    return Archive(engine, n_final, utcnow() - _PAST)


def _keep_samples(
    session: Session, model: type[Event] | type[Execution] | type[ScheduledJob]
) -> None:
    name = f"bench_{model.__tablename__}"
    kind = "uuid" if session.get_bind().dialect.name == "postgresql" else "CHAR(32)"
    session.execute(text(f"CREATE TABLE {name} (number integer, id {kind})"))
    numbered = (
        f"INSERT INTO {name} SELECT row_number() OVER () - 1, id "  # noqa: S608  # ours
        f"FROM {model.__tablename__}"
    )
    session.execute(text(numbered))


@dataclass(slots=True)
class Archive:
    """A database that is filled step by step, up to a size that is known before."""

    engine: Engine
    n_final: int
    first: datetime
    n: int = 0

    def grow(self, n: int) -> None:
        """Have ``n`` finished executions, and what belongs to them."""
        for table in _OWN:
            fewer = 1 if table == "executions" else TIMES_FEWER
            for low in range(self.n // fewer, n // fewer, _CHUNK):
                self._insert(table, low, min(low + _CHUNK, n // fewer), fewer)
        self.n = n
        with self.engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            # As PostgreSQL does by itself, some minutes later.
            is_postgresql = self.engine.dialect.name == "postgresql"
            alone.exec_driver_sql("VACUUM ANALYZE" if is_postgresql else "ANALYZE")

    def _insert(self, table: str, low: int, high: int, fewer: int) -> None:
        values = {
            "low": low,
            "high": high,
            "first": self._first(),
            "step": _PAST.total_seconds() * fewer / self.n_final,
            "ms": int(self.first.timestamp() * 1_000),
        }
        statement = _statement(table, self.engine.dialect.name)
        used = {name: values[name] for name in statement.compile().params}
        with self.engine.begin() as connection:
            connection.execute(statement, used)

    def _first(self) -> datetime | str:
        if self.engine.dialect.name == "postgresql":
            return self.first
        return f"{self.first:%Y-%m-%d %H:%M:%S}"


def _statement(table: str, dialect: str) -> TextClause:
    words = _WORDS[dialect]
    own = {"id": words["id"], **dict.fromkeys(_INSTANTS, words["at"]), **_OWN[table]}
    names = list(Base.metadata.tables[table].columns.keys())
    values = ", ".join(own.get(name, f"e.{name}") for name in names)
    return text(
        f"INSERT INTO {table} ({', '.join(names)}) "  # noqa: S608  # names of ours
        "WITH RECURSIVE n(i) AS (SELECT CAST(:low AS bigint) UNION ALL "
        "SELECT i + 1 FROM n WHERE i + 1 < :high) "
        f"SELECT {values} FROM n JOIN bench_{table} t ON t.number = i % {N_TENANTS} "
        f"JOIN {table} e ON e.id = t.id"
    )
