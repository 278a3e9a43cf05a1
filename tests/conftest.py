"""Real databases and brokers for every test; nothing needs to be installed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import NullPool
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from dashboard.config import ARGON2
from tasks import queue
from tasks.db import make_engine, sessions
from tasks.models import Base

#: The instant at which the tests' clocks stand still.
NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)

#: Memory that looks like a disk: commits need not reach a real one.
_MEMORY = Path("/dev/shm")  # pytest makes a folder in it
_MEMORY_MIN = 2 * 1024**3

pytest_plugins = ["tests.support.servers", "tests.support.sinks"]


@pytest.fixture(autouse=True)
def _closed_queues() -> Iterator[None]:
    """Leave no connection to a broker behind; Python 3.13 tells of those."""
    yield
    queue.close()


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


@contextmanager
def _database(server: str) -> Iterator[URL]:
    name = f"t_{uuid4().hex}"
    url = make_url(server)
    admin = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with admin.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield url.set(database=name)
    with admin.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[URL]:
    """Return the address of an empty PostgreSQL database, dropped afterwards."""
    with _database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def filled_postgres(postgres_server: str) -> Iterator[URL]:
    """Return the address of a database with every table, emptied after each test."""
    with _database(postgres_server) as url:
        _make_tables(url).dispose()
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> URL:
    """Run the test on both databases; yields the address of an empty one."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    url: URL = request.getfixturevalue(name)
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Return an engine with every table made, on both databases in turn."""
    name = "sqlite_engine" if request.param == "sqlite" else "postgres_engine"
    made: Engine = request.getfixturevalue(name)
    return made


@pytest.fixture(scope="session")
def _shared_postgres(filled_postgres: URL) -> Iterator[Engine]:
    """Return the engine of all tests: what SQLAlchemy compiled for one serves all."""
    made = make_engine(filled_postgres)
    yield made
    made.dispose()


@pytest.fixture
def postgres_engine(_shared_postgres: Engine) -> Iterator[Engine]:
    """Return an engine with every table made, on PostgreSQL.

    It is one of its own for events, so what a test listens to ends with the test.
    """
    yield _shared_postgres.execution_options()
    _empty(_shared_postgres)


def _empty(engine: Engine) -> None:
    """Remove all rows; far quicker than TRUNCATE, or than another database."""
    filled = " UNION ALL ".join(
        f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")"  # noqa: S608  # ours
        for name in Base.metadata.tables
    )
    with engine.begin() as connection:
        # Without triggers: foreign keys need not be looked at when everything goes.
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        for name in connection.scalars(text(filled)).all():
            connection.execute(text(f'DELETE FROM "{name}"'))  # noqa: S608  # ours


def _make_tables(url: URL) -> Engine:
    import dashboard.operators.models  # noqa: F401  # its tables join the metadata

    made = make_engine(url)
    Base.metadata.create_all(made)
    return made


@pytest.fixture(scope="session")
def _filled_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with every table, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "carillon.db"
    _make_tables(make_url(f"sqlite:///{path}")).dispose()  # which empties the log
    return path


@pytest.fixture(scope="session")
def _shared_sqlite(_filled_sqlite: Path) -> Engine:
    """Return the engine of all tests: what SQLAlchemy compiled for one serves all."""
    return make_engine(make_url(f"sqlite:///{_filled_sqlite.with_name('shared.db')}"))


@pytest.fixture
def sqlite_engine(_shared_sqlite: Engine, _filled_sqlite: Path) -> Iterator[Engine]:
    """Return an engine with every table made, on SQLite only: for pages and forms.

    It is one of its own for events, so what a test listens to ends with the test.
    """
    path = Path(str(_shared_sqlite.url.database))
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    shutil.copyfile(_filled_sqlite, path)
    yield _shared_sqlite.execution_options()
    _shared_sqlite.dispose()


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


#: Folders whose tests take long, one by one.
_LONG: Final = frozenset({"chaos", "acceptance", "browser"})


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread what takes long over the first part of the run.

    It waits for others most of the time, while quick tests compute; and no process is
    alone with it at the end.  Browsers begin, since one process has all of them.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    long = [path for path in files if path.parent.name in _LONG]
    long.sort(key=lambda path: path.parent.name != "browser")
    quick = iter([path for path in files if path.parent.name not in _LONG])
    n_between = (len(files) - len(long)) * 7 // (10 * len(long)) if long else 0
    order = [each for one in long for each in (one, *islice(quick, n_between))]
    items[:] = [item for path in (*order, *quick) for item in files[path]]


class _ByFile(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """Gives each file to one process, and all browser tests to the same.

    They share a demo and an installation; those of several processes would take half
    of the machine, only by looking whether there is something to do.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "browser" if file.startswith("tests/browser/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _ByFile:
    """Let several processes share the tests file by file."""
    return _ByFile(config, log)


def pytest_configure() -> None:
    """Keep dates in UTC, and let no test fail because the machine is slow."""
    os.environ["TZ"] = "UTC"
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _MEMORY_MIN:
        os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_MEMORY)
        tempfile.tempdir = None  # read it anew
    # A password costs a login 50 ms, which thousands of tests need not pay.
    ARGON2.update(time_cost=1, memory_cost=64)
    patient = [HealthCheck.too_slow]
    settings.register_profile("carillon", deadline=None, suppress_health_check=patient)
    settings.load_profile("carillon")
