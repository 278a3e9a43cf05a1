"""New rows as the database's driver takes them, made while nobody waits for us.

What a type does to a value costs more than writing it.  So it is done before the
transaction of the import, whose time is that of ``COPY``, or of SQLite's own inserts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import UUID

import psycopg
from sqlalchemy import JSON, Column, LargeBinary, Table
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.congregation.transfer.entity import Row
from tasks.congregation.transfer.values import to_json

_Pack = Callable[[Any], Any]
_TENANT: Final = "congregation_id"


class Wire:
    """How the new rows of one table go to one kind of database.

    Args:
        columns: what rows have, besides the congregation's id.
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[Column[Any]],
        congregation_id: UUID,
        dialect: Dialect,
    ) -> None:
        self._is_postgres = dialect.name == "postgresql"
        tenant = table.c[_TENANT]
        self._tenant = _packer(tenant, dialect)(congregation_id)
        self._packs = [(c.name, _packer(c, dialect)) for c in columns]
        columns = [tenant, *columns]
        names = ", ".join(f'"{column.name}"' for column in columns)
        if self._is_postgres:
            self._sql = f'COPY "{table.name}" ({names}) FROM STDIN'
        else:
            marks = ", ".join("?" * len(columns))
            self._sql = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608  # names of ours
        self._binaries = [
            n for n, c in enumerate(columns) if isinstance(c.type, LargeBinary)
        ]

    def pack(self, values: Row) -> list[Any]:
        """Return a row as JSON may have it, and as ``write`` wants it."""
        packed = [self._tenant]
        for name, pack in self._packs:
            value = values[name]
            packed.append(None if value is None else pack(value))
        return packed

    def write(self, session: Session, rows: Sequence[list[Any]]) -> None:
        """Insert rows; the caller commits.

        Raises:
            IntegrityError: the database does not allow one of them.
        """
        if self._is_postgres:
            self._copy(session, rows)
            return
        for row in rows:
            for n in self._binaries:
                row[n] = bytes.fromhex(row[n])
        tuples = [tuple(row) for row in rows]
        session.connection().exec_driver_sql(self._sql, tuples)

    def _copy(self, session: Session, rows: Sequence[list[Any]]) -> None:
        raw = session.connection().connection.cursor()
        try:
            with raw.copy(self._sql) as copy:
                for row in rows:
                    copy.write_row(row)
        except psycopg.IntegrityError as error:
            raise IntegrityError(self._sql, None, error) from error
        finally:
            raw.close()


def _packer(column: Column[Any], dialect: Dialect) -> _Pack:
    """Return what makes a value of a column one that JSON has and the driver takes."""
    if isinstance(column.type, LargeBinary):
        return _bytea if dialect.name == "postgresql" else bytes.hex
    if dialect.name != "postgresql":
        process = column.type.dialect_impl(dialect).bind_processor(dialect)
        return process or _same
    if isinstance(column.type, JSON):
        return lambda value: json.dumps(value, ensure_ascii=False)
    return to_json


def _bytea(value: bytes) -> str:
    return "\\x" + value.hex()


def _same(value: object) -> object:
    return value
