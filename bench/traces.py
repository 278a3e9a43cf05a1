"""What the engine leaves in the tables: learnt from one example, written bare.

The limit that the engine is compared with writes the same rows, column by column, in
the same transactions, with nothing read, matched, composed or checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Json
from sqlalchemy import Engine, Table, func, select

from tasks.models import Base
from tasks.models.base import new_id

#: Columns that must be unique; their values keep the length of the sample.
_UNIQUE: Final = frozenset({"external_id", "idempotency_key"})
#: Whose new id a column refers to.
_OWNERS: Final = {"event_id": "events", "execution_id": "executions"}
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trace:
    """Rows that one act adds, by table, parents first, and how to write them bare."""

    samples: Mapping[str, Row]
    statements: Mapping[str, str]

    def rows(self, n: int) -> Iterator[dict[str, tuple[Any, ...]]]:
        """Yield the rows of ``n`` such acts, with ids of their own."""
        for _ in range(n):
            yield self.row({})

    def row(self, known: Mapping[str, UUID]) -> dict[str, tuple[Any, ...]]:
        """Return the rows of one such act.

        Args:
            known: ids of rows that were there before, by table; others are new.
        """
        ids = {**{table: new_id() for table in self.samples}, **known}
        return {
            table: tuple(_value(table, name, sample[name], ids) for name in sample)
            for table, sample in self.samples.items()
        }


def _value(table: str, name: str, sample: Any, ids: Mapping[str, UUID]) -> Any:  # noqa: ANN401  # any column's
    if name in _UNIQUE:
        return f"{sample[:-32]}{new_id().hex}"
    owner = table if name == "id" else _OWNERS.get(name, "")
    if sample is None or owner not in ids:
        return sample
    born = ids[owner]
    return born if isinstance(sample, UUID) else born.hex


def learn(engine: Engine, act: Callable[[], object]) -> Trace:
    """Do ``act`` once and return which rows it has added: at most one to each table.

    Raises:
        RuntimeError: it added several rows to one table.
    """
    before = _counts(engine)
    act()
    after = _counts(engine)
    samples, statements = {}, {}
    mark = "%s" if engine.dialect.name == "postgresql" else "?"
    for table in Base.metadata.sorted_tables:
        if (added := after[table.name] - before[table.name]) > 1:
            raise RuntimeError(f"{added} rows were added to {table.name}")
        if added:
            names = list(table.columns.keys())
            marks = ", ".join(mark for _ in names)
            samples[table.name] = newest(engine, table)
            statements[table.name] = (
                f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608  # names of ours
            )
    return Trace(samples, statements)


def _counts(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


def for_core(engine: Engine, trace: Trace) -> Trace:
    """Return the same trace with values as SQLAlchemy takes them."""
    tables = (Base.metadata.tables[name] for name in trace.samples)
    with engine.connect() as connection:
        newest_of = {
            table.name: connection.execute(
                select(table).order_by(*(key.desc() for key in table.primary_key))
            ).first()
            for table in tables
        }
    samples = {name: row._asdict() for name, row in newest_of.items() if row}
    return Trace(samples, trace.statements)


def newest(engine: Engine, table: Table) -> Row:
    """Return the newest row as the driver gives it, JSON as the driver takes it."""
    keys = ", ".join(f"{column.name} DESC" for column in table.primary_key)
    with engine.connect() as connection:
        row = connection.exec_driver_sql(
            f"SELECT * FROM {table.name} ORDER BY {keys} LIMIT 1"  # noqa: S608  # ours
        )
        found = dict(row.mappings().one())
    return {
        name: Json(found[name]) if isinstance(found[name], dict | list) else found[name]
        for name in table.columns.keys()  # noqa: SIM118  # names, not columns
    }
