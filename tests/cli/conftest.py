"""An installation of its own for each test of the command line."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from dashboard.cli import cli
from tasks import migrations
from tasks.db import make_engine, sessions
from tasks.models import Congregation, Podcast
from tests.support.processes import environment
from tests.support.servers import free_port


@pytest.fixture(autouse=True)
def _as_logging_was() -> Iterator[None]:
    """Take back what commands do to logging; their standard error is closed now."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, PORT=str(free_port()), WEB_WORKERS="1")


@pytest.fixture
def engine(environ: dict[str, str]) -> Iterator[Engine]:
    """Return an engine on the migrated database that the commands use."""
    from tasks.config import Config

    made = make_engine(Config.from_environ(environ).database_url)
    migrations.upgrade(made)
    yield made
    made.dispose()


@pytest.fixture
def parish(engine: Engine) -> Congregation:
    with sessions(engine).begin() as session:
        row = Congregation(slug="parish", name="Parish")
        session.add(row)
        session.flush()
        session.add(Podcast(congregation_id=row.id, id="talks", title="Talks"))
    return row


def carillon(environ: Mapping[str, str], *arguments: str, **more: Any) -> Result:
    return CliRunner().invoke(cli, arguments, env=dict(environ), **more)
