"""The steps that bring a database to what this version of the code expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text
from sqlalchemy.engine import Connection

from tasks.errors import EngineError

FOLDER: Final = Path(__file__).parent
#: Any number that nobody else uses: who holds it on PostgreSQL migrates alone.
_ADVISORY_LOCK: Final = 7_205_511_860
#: How long another process may take to migrate before we give up, in milliseconds.
_TURN_TIMEOUT_MS: Final = 120_000
#: How long a step may wait for a table, and so hold up everybody behind it.
_LOCK_TIMEOUT_MS: Final = 4_000


class SchemaIsNewer(EngineError):
    """A newer version of Carillon has changed this database."""


def alembic_config() -> AlembicConfig:
    """Return Alembic's settings; there is no ini file."""
    config = AlembicConfig()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(engine: Engine) -> None:
    """Take every step that is missing, all in one transaction.

    Several processes may call this at once: one works, the others wait for it.

    Raises:
        SchemaIsNewer: the database has a step that this version does not know.
        sqlalchemy.exc.OperationalError: the database does not answer, or a table
            stayed locked for four seconds.
    """
    config = alembic_config()
    with _alone(engine) as connection:
        _refuse_newer(connection, ScriptDirectory.from_config(config))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def is_current(engine: Engine) -> bool:
    """Whether the database has every step of this version and no other."""
    heads = set(ScriptDirectory.from_config(alembic_config()).get_heads())
    with engine.connect() as connection:
        return set(MigrationContext.configure(connection).get_current_heads()) == heads


def is_behind(engine: Engine) -> bool:
    """Whether steps of this version are missing; a newer database lacks none."""
    scripts = ScriptDirectory.from_config(alembic_config())
    known = {script.revision for script in scripts.walk_revisions()}
    with engine.connect() as connection:
        found = set(MigrationContext.configure(connection).get_current_heads())
    return found <= known and found != set(scripts.get_heads())


def _refuse_newer(connection: Connection, scripts: ScriptDirectory) -> None:
    known = {script.revision for script in scripts.walk_revisions()}
    found = set(MigrationContext.configure(connection).get_current_heads())
    if unknown := sorted(found - known):
        raise SchemaIsNewer(
            f"The database is at step {unknown[0]}, which this version of Carillon "
            "does not know; start the newer version, or restore a backup."
        )


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """Open a transaction in which nobody else migrates; commits at the end."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            with connection.begin():
                _take_turn(connection)
                yield connection
            return
        # SQLite changes a table by making it anew, and must not delete the rows that
        # refer to it meanwhile.  The pragma works outside of a transaction only.
        _set_foreign_keys(connection, "OFF")
        try:
            with connection.begin():
                yield connection
                _refuse_strays(connection)
        finally:
            _set_foreign_keys(connection, "ON")


def _take_turn(connection: Connection) -> None:
    connection.execute(text(f"SET LOCAL lock_timeout = {_TURN_TIMEOUT_MS}"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
    connection.execute(text(f"SET LOCAL lock_timeout = {_LOCK_TIMEOUT_MS}"))


def _set_foreign_keys(connection: Connection, value: str) -> None:
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA foreign_keys={value}")
    cursor.close()


def _refuse_strays(connection: Connection) -> None:
    strays = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if strays:
        raise EngineError(
            f"A migration left {len(strays)} rows without the row they refer to, "
            f"the first in {strays[0][0]}; nothing was changed."
        )
