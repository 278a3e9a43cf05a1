"""Real databases and brokers for every test; nothing needs to be installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import make_engine, sessions
from tasks.models import Base

#: The instant at which the tests' clocks stand still.
NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)

pytest_plugins = ["tests.support.servers", "tests.support.sinks"]


@pytest.fixture
def now() -> datetime:
    """Return the instant at which the stopped clock stands."""
    return NOW


@pytest.fixture
def noon() -> Callable[[], datetime]:
    """Return a stopped clock."""
    return lambda: NOW


@pytest.fixture
def sqlite_url(tmp_path: Path) -> URL:
    """Return the address of an empty SQLite file."""
    return make_url(f"sqlite:///{tmp_path / 'carillon.db'}")


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[URL]:
    """Return the address of an empty PostgreSQL database, dropped afterwards."""
    name = f"t_{uuid4().hex}"
    server = make_url(postgres_server)
    admin = create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield server.set(database=name)
    with admin.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    admin.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> URL:
    """Run the test on both databases; yields the address of an empty one."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    url: URL = request.getfixturevalue(name)
    return url


@pytest.fixture
def engine(database_url: URL) -> Iterator[Engine]:
    """Return an engine with every table made, on both databases in turn."""
    import dashboard.operators.models  # noqa: F401  # its tables join the metadata

    made = make_engine(database_url)
    Base.metadata.create_all(made)
    yield made
    made.dispose()


@pytest.fixture
def sqlite_engine(sqlite_url: URL) -> Iterator[Engine]:
    """Return an engine with every table made, on SQLite only: for pages and forms."""
    import dashboard.operators.models  # noqa: F401  # its tables join the metadata

    made = make_engine(sqlite_url)
    Base.metadata.create_all(made)
    yield made
    made.dispose()


@pytest.fixture
def make_session(engine: Engine) -> sessionmaker[Session]:
    """Return a factory of unscoped sessions on both databases in turn."""
    return sessions(engine)


@pytest.fixture
def begin(
    make_session: sessionmaker[Session],
) -> Callable[[], AbstractContextManager[Session]]:
    """Return a ``Begin``: one transaction a block, on both databases in turn."""
    return make_session.begin


def pytest_configure() -> None:
    """Keep the tests' dates in UTC, whatever the machine says."""
    os.environ["TZ"] = "UTC"
