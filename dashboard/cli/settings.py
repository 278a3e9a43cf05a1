"""What several commands need: the settings, a database, free ports."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from tasks import migrations
from tasks.config import Config
from tasks.db import make_engine
from tasks.errors import ConfigError, EngineError

logger = logging.getLogger(__name__)


def read_config() -> Config:
    """Return the settings of this process's environment.

    Raises:
        ConfigError: a setting is missing or wrong.
    """
    return Config.from_environ(os.environ)


@contextmanager
def database(config: Config) -> Iterator[Engine]:
    """Lend an engine to one command.

    Raises:
        EngineError: the database does not answer.
    """
    engine = make_engine(config.database_url, loop_rate=config.loop_rate)
    try:
        yield engine
    except OperationalError as error:
        raise EngineError(
            f"The database at {config.database_url.render_as_string()} cannot do "
            f"this ({first_line(error)}). Run: carillon doctor"
        ) from error
    finally:
        engine.dispose()


@contextmanager
def tables(config: Config) -> Iterator[Engine]:
    """Lend an engine to a command that needs the tables of this version.

    Raises:
        EngineError: the database does not answer, or migrating was forgotten.
    """
    with database(config) as engine:
        _refuse_old(engine)
        yield engine


def refuse_old_database(config: Config) -> None:
    """Stop where migrating was forgotten: all that is asked would fail later.

    Raises:
        EngineError: steps are missing.
    """
    engine = make_engine(config.database_url)
    try:
        _refuse_old(engine)
    except OperationalError:
        logger.warning("database.away")  # it may come; what serves says so until then
    finally:
        engine.dispose()


def _refuse_old(engine: Engine) -> None:
    if migrations.is_behind(engine):
        raise EngineError(
            "The database lacks steps of this version. Run: carillon migrate"
        )


def first_line(error: BaseException) -> str:
    """Return an error's own words on one line, without SQLAlchemy's trimmings."""
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().partition("\n")[0].rstrip(".") or type(cause).__name__


def refuse_taken_port(setting: str, host: str, port: int) -> None:
    """Make sure that ``port`` can be listened on.

    Raises:
        ConfigError: it cannot; the sentence names the setting.
    """
    if port == 0:
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do, so that connections of a server just stopped do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigError(
                f"{setting} is {port}, but {host}:{port} cannot be listened on "
                f"({error.strerror}); stop what uses it, or set {setting} to another."
            ) from error
