"""SQLite: who waits to write gets its turn, and is told when it does not come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import URL, Engine, text
from sqlalchemy.exc import OperationalError

from tasks import db, sqlite

_ADD = text("INSERT INTO turns (who) VALUES (:who)")


@pytest.fixture
def engine(sqlite_url: URL) -> Iterator[Engine]:
    """Return an engine with a table of its own."""
    made = db.make_engine(sqlite_url)
    with made.begin() as connection:
        connection.execute(text("CREATE TABLE turns (n INTEGER PRIMARY KEY, who INT)"))
    yield made
    made.dispose()


def test_who_waits_begins_soon_after_the_other_ends(engine: Engine) -> None:
    ended: list[float] = []

    def add() -> float:
        with engine.begin() as connection:
            connection.execute(_ADD, {"who": 2})
            return time.monotonic()

    with ThreadPoolExecutor(1) as pool:
        with engine.begin() as connection:
            connection.execute(_ADD, {"who": 1})
            waiting = pool.submit(add)
            time.sleep(0.3)  # the waiting itself is what is looked at
            assert not waiting.done()
            ended.append(time.monotonic())
        assert waiting.result(20) >= ended[0]
    with engine.connect() as connection:
        who = connection.scalars(text("SELECT who FROM turns ORDER BY n")).all()
    assert who == [1, 2]


def test_everybody_gets_a_turn(engine: Engine) -> None:
    go = threading.Barrier(8)

    def add(who: int) -> None:
        go.wait()
        for _ in range(10):
            with engine.begin() as connection:
                connection.execute(_ADD, {"who": who})

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(add, who) for who in range(8)]:
            done.result(60)
    with engine.connect() as connection:
        counted = connection.execute(
            text("SELECT who, count(*) FROM turns GROUP BY who ORDER BY who")
        ).all()
    assert [tuple(row) for row in counted] == [(who, 10) for who in range(8)]


def test_who_waits_in_vain_is_told_and_nothing_is_left_open(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_PAUSES", ((0.05, 0.005),))
    with engine.begin() as connection:
        connection.execute(_ADD, {"who": 1})
        with pytest.raises(OperationalError, match="locked"), engine.begin():
            pytest.fail("two writers at once")
    with engine.begin() as connection:
        connection.execute(_ADD, {"who": 2})
        found = connection.exec_driver_sql("PRAGMA busy_timeout").scalar()
    assert found == 1000 * sqlite.BUSY_SECONDS


def test_another_error_is_told_at_once(engine: Engine) -> None:
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert raw is not None
        raw.execute("BEGIN")
        with pytest.raises(OperationalError, match="within a transaction"):
            connection.begin()


def test_who_only_reads_waits_for_nobody(engine: Engine) -> None:
    with engine.begin() as writer:
        writer.execute(_ADD, {"who": 1})
        with engine.connect() as reader:
            reader = reader.execution_options(**{sqlite.BEGIN_OPTION: "DEFERRED"})
            assert reader.scalar(text("SELECT count(*) FROM turns")) == 0
