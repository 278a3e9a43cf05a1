"""A house full of rows: what years of work of ten congregations leave in every table.

Each congregation has one row of each kind that the engine made; the others are copies
of it, written by the database itself.  What they differ in is a formula of their
number, so that rows of several tables name each other without being looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Engine
from sqlalchemy.engine.interfaces import DBAPICursor

from bench.settings import say
from tasks.models import Base

N_TENANTS: Final = 10
PAST: Final = timedelta(days=90)
#: The digit by which ids of one kind differ from those of others of the same time.
_DIGITS: Final = {
    kind: f"{number:x}"
    for number, kind in enumerate(
        (
            *("event", "execution", "job", "delivery", "rule", "group", "decision"),
            *("audit", "operation", "contact", "engagement", "digest", "mail"),
            *("notification", "run"),
        )
    )
}
#: Rows that one statement makes: SQLite's journal stays small.
_CHUNK: Final = 250_000
_PREPARE: Final[Mapping[str, Sequence[str]]] = {
    # The rows fit by construction; looking up each key would take most of the time.
    "postgresql": ("SET session_replication_role = replica", "SET work_mem = '64MB'"),
    "sqlite": ("PRAGMA synchronous = OFF", "PRAGMA foreign_keys = OFF"),
}


@dataclass(frozen=True, slots=True)
class Copies:
    """So many copies of each congregation's row of a table."""

    table: str
    n: int
    own: Mapping[str, str]  # what differs, as formulas of ``i``


@dataclass(frozen=True, slots=True)
class Words:
    """The formulas of one database; ``n`` in them is the number of a row.

    The row number ``n`` of any kind belongs to the congregation ``n % N_TENANTS``.
    """

    dialect: str
    now: datetime
    counts: Mapping[str, int] = field(default_factory=dict)  # kind -> rows

    @property
    def _first(self) -> int:
        return int((self.now - PAST).timestamp() * 1_000)

    def _step(self, kind: str) -> int:
        """Return the milliseconds between two rows."""
        return int(PAST.total_seconds() * 1_000) // self.counts[kind]

    def _ms(self, kind: str, n: str) -> str:
        return f"({self._first} + CAST({n} AS bigint) * {self._step(kind)})"

    def id(self, kind: str, n: str) -> str:
        """Return the id of a row, which says when it was born."""
        ms, digit = self._ms(kind, n), _DIGITS[kind]
        if self.dialect == "sqlite":
            return f"printf('%012x7%03x8{digit}%014x', {ms}, {n} % 4096, {n})"
        return (
            f"CAST(lpad(to_hex({ms}), 12, '0') || '7' || lpad(to_hex({n} % 4096), 3,"
            f" '0') || '8{digit}' || lpad(to_hex({n}), 14, '0') AS uuid)"
        )

    def id_of(self, kind: str, n: int) -> UUID:
        """Return the same id as a value."""
        ms = self._first + n * self._step(kind)
        return UUID(hex=f"{ms:012x}7{n % 4096:03x}8{_DIGITS[kind]}{n:014x}")

    def at(self, kind: str, n: str, seconds: str = "0") -> str:
        """Return the instant of a row's birth, or some seconds later."""
        return self._instant(f"({self._ms(kind, n)} + ({seconds}) * 1000)")

    def ahead(self, minutes: str) -> str:
        """Return an instant some minutes from now."""
        now = int(self.now.timestamp() * 1_000)
        return self._instant(f"({now} + ({minutes}) * 60000)")

    def _instant(self, ms: str) -> str:
        if self.dialect == "sqlite":
            return f"strftime('%Y-%m-%d %H:%M:%f000', {ms} / 1000.0, 'unixepoch')"
        return f"to_timestamp({ms} / 1000.0)"


def number_within(n: str) -> str:
    """Return the number of a row among those of its congregation."""
    return f"({n} / {N_TENANTS})"


def of_same(own: str, n: str = "i") -> str:
    """Return the number of another row of the congregation, by its number within."""
    return f"(({own}) * {N_TENANTS} + {n} % {N_TENANTS})"


def fill(engine: Engine, tables: Iterable[Copies]) -> None:
    """Write the copies, and let the database look at what it has."""
    dialect = engine.dialect.name
    connection = engine.raw_connection()
    if dialect == "postgresql":  # SQLite's commits by themselves anyway
        connection.dbapi_connection.autocommit = True  # type: ignore[union-attr]  # it has one
    try:
        cursor = connection.cursor()
        for statement in _PREPARE[dialect]:
            cursor.execute(statement)
        for copies in tables:
            _copy(cursor, copies)
            say(f"    {copies.table}: {copies.n:,}")
        cursor.execute("VACUUM ANALYZE" if dialect == "postgresql" else "ANALYZE")
    finally:
        connection.invalidate()  # its settings are for filling only


def _copy(cursor: DBAPICursor, copies: Copies) -> None:
    columns = Base.metadata.tables[copies.table].columns
    names = [column.name for column in columns]
    is_shared = "congregation_id" not in names
    rank = "1" if is_shared else "dense_rank() OVER (ORDER BY congregation_id)"
    parts = "" if is_shared else "PARTITION BY congregation_id"
    cursor.execute("DROP TABLE IF EXISTS bench_sample")
    cursor.execute(
        "CREATE TABLE bench_sample AS SELECT * FROM "  # noqa: S608  # names of ours
        f"(SELECT {rank} - 1 AS bench_number, row_number() OVER ({parts}) AS"
        f" bench_place, t.* FROM {copies.table} t) s"
        " WHERE bench_place = 1"
    )
    turn = "0" if is_shared else f"i % {N_TENANTS}"
    values = ", ".join(copies.own.get(name, f"e.{name}") for name in names)
    for low in range(0, copies.n, _CHUNK):
        cursor.execute(
            f"INSERT INTO {copies.table} ({', '.join(names)}) "  # noqa: S608  # as above
            f"WITH RECURSIVE n(i) AS (SELECT CAST({low} AS bigint) UNION ALL "
            f"SELECT i + 1 FROM n WHERE i + 1 < {min(low + _CHUNK, copies.n)}) "
            f"SELECT {values} FROM n JOIN bench_sample e ON e.bench_number = {turn}"
        )
    cursor.execute("DROP TABLE bench_sample")
