"""SQLite as we rely on it: what each connection sets, and whose turn it is to write."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Engine, event
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

#: How long a transaction waits for another writer before it gives up, in seconds.
BUSY_SECONDS: Final = 30
#: Where a connection says how its next transaction begins: IMMEDIATE, or DEFERRED.
BEGIN_OPTION: Final = "sqlite_begin"
#: How the driver connects.
ARGUMENTS: Final[Mapping[str, Any]] = {
    "timeout": BUSY_SECONDS,
    "check_same_thread": False,
    "isolation_level": None,  # we begin transactions ourselves, see _begin
}
_PRAGMAS: Final = (
    "journal_mode=WAL",
    "synchronous=FULL",  # acknowledged means on disk
    "foreign_keys=ON",
    "cache_size=-16000",
)
#: Who has waited for less than so long tries again after so long, both in seconds.
#: Soon, since most transactions are short; then more seldom than who has waited longer;
#: and seldom when it is plain that somebody writes for long.
_PAUSES: Final = ((0.004, 0.001), (0.05, 0.003), (1.0, 0.001), (BUSY_SECONDS, 0.005))
#: What SQLite knows.
_Value = str | bytes | int | float | None


def prepare(engine: Engine) -> None:
    """Teach an engine our pragmas and our way to begin."""
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)


def _set_up(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)  # noqa: S101  # narrows the type
    connection.isolation_level = None
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    # Its own knows no letters beyond ASCII; who looks for "élodie" means Élodie too.
    connection.create_function("lower", 1, _lower, deterministic=True)


def _lower(value: _Value) -> _Value:
    return value.lower() if isinstance(value, str) else value


def _begin(connection: Connection) -> None:
    kind = connection.get_execution_options().get(BEGIN_OPTION, "IMMEDIATE")
    if kind == "IMMEDIATE":
        _take_turn(connection)
    else:
        connection.exec_driver_sql(f"BEGIN {kind}")


def _take_turn(connection: Connection) -> None:
    """Begin to write, as soon as nobody else does.

    Left to itself SQLite tries again ever more seldom, so that who comes late gets in
    before who waits: one of eight producers may stand there for a second.

    Raises:
        sqlalchemy.exc.OperationalError: somebody else has written for too long.
    """
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)  # noqa: S101  # narrows the type
    began = time.monotonic()
    raw.execute("PRAGMA busy_timeout=0")
    try:
        while (error := _tried(raw)) is not None:
            pause = _pause(time.monotonic() - began)
            if pause is None or error & 0xFF != sqlite3.SQLITE_BUSY:
                connection.exec_driver_sql("BEGIN IMMEDIATE")  # told as SQLAlchemy does
                return
            time.sleep(pause)
    finally:
        raw.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")


def _tried(raw: sqlite3.Connection) -> int | None:
    """Return SQLite's code of what kept the transaction from beginning, if anything."""
    try:
        raw.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode
    return None


def _pause(waited: float) -> float | None:
    return next((pause for below, pause in _PAUSES if waited < below), None)
