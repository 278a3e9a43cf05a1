"""Connections: what they set, and that one which was cut is found out in time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import URL, Engine, text
from sqlalchemy.exc import OperationalError

from tasks import db

_OTHERS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def engine(postgres_url: URL) -> Iterator[Engine]:
    """Return an engine with one connection, to a database of its own."""
    made = db.make_engine(postgres_url, pool_size=1, max_overflow=0)
    _ask(made)
    yield made
    made.dispose()


def _ask(engine: Engine) -> None:
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT 1")) == 1


def _cut(engine: Engine) -> None:
    cutter = db.make_engine(engine.url)
    with cutter.begin() as connection:
        connection.execute(_OTHERS)
    cutter.dispose()


def test_a_connection_is_set_up_for_short_statements(engine: Engine) -> None:
    wanted = {
        "timezone": "UTC",
        "lock_timeout": "10s",
        "random_page_cost": "1.1",
        "jit": "off",
    }
    with engine.connect() as connection:
        for name, value in wanted.items():
            assert connection.scalar(text(f"SHOW {name}")) == value


def test_an_idle_connection_that_was_cut_is_replaced(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut(engine)
    monkeypatch.setattr(db, "_IDLE_SECONDS", 0.0)
    _ask(engine)


def test_a_connection_in_use_is_not_tried_each_time(engine: Engine) -> None:
    """It fails once when it is cut, and the next is a new one."""
    _cut(engine)
    with pytest.raises(OperationalError):
        _ask(engine)
    _ask(engine)


def test_a_glance_needs_no_transaction(postgres_engine: Engine) -> None:
    with db.sessions(postgres_engine).begin() as session:
        db.glancing(session)
        first = session.scalar(text("SELECT pg_current_xact_id()"))
        assert session.scalar(text("SELECT pg_current_xact_id()")) != first
    with db.sessions(postgres_engine).begin() as session:
        first = session.scalar(text("SELECT pg_current_xact_id()"))
        assert session.scalar(text("SELECT pg_current_xact_id()")) == first
