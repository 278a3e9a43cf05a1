"""Installations of every kind, and servers that a test may break."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from tests.chaos.harness import Installation, installation
from tests.chaos.servers import OwnPostgres, OwnRedis

#: Database + broker.  A test is run on the first, unless it asks for all.
STACKS = ("postgresql+redis", "postgresql+sqlite", "sqlite+sqlite")
everywhere = pytest.mark.parametrize("system", STACKS, indirect=True)


@pytest.fixture
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """Return an empty installation with rules and without workers."""
    database, broker = getattr(request, "param", STACKS[0]).split("+")
    name = "sqlite_url" if database == "sqlite" else "postgres_url"
    url: URL = request.getfixturevalue(name)
    redis_url = request.getfixturevalue("redis_url") if broker == "redis" else ""
    with installation(url, redis_url, tmp_path) as made:
        yield made


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[OwnRedis]:
    """Return a Redis that the test may flush, fill, stop and start again."""
    with OwnRedis(tmp_path) as server:
        yield server


@pytest.fixture
def brittle(
    broker: OwnRedis, postgres_url: URL, tmp_path: Path
) -> Iterator[Installation]:
    """Return an installation whose Redis the test may break."""
    with installation(postgres_url, broker.url, tmp_path) as made:
        yield made


@pytest.fixture
def database() -> Iterator[OwnPostgres]:
    """Return a PostgreSQL that the test may restart."""
    with OwnPostgres() as server:
        yield server


@pytest.fixture
def shaken(
    database: OwnPostgres, redis_url: str, tmp_path: Path
) -> Iterator[Installation]:
    """Return an installation whose PostgreSQL the test may restart."""
    with installation(database.url, redis_url, tmp_path) as made:
        yield made
