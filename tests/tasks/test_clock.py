"""The database's clock: asked seldom, and nobody waits for who asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from sqlalchemy import URL, Engine

from tasks.clock import DatabaseClock, utcnow
from tasks.db import make_engine


@pytest.fixture
def engine(postgres_url: URL) -> Iterator[Engine]:
    """Return an engine with one connection, to a database of its own."""
    made = make_engine(postgres_url, pool_size=1, max_overflow=0)
    yield made
    made.dispose()


def test_who_holds_the_last_connection_does_not_wait_for_who_wants_it(
    engine: Engine,
) -> None:
    clock = DatabaseClock(engine)
    before = clock()
    clock.ANCHOR_FOR = timedelta(0)
    told: list[datetime] = []
    with engine.connect():
        asking = threading.Thread(target=lambda: told.append(clock()))
        asking.start()
        while not clock._lock.locked():
            time.sleep(0.001)
        carried_on = clock()  # would wait for half a minute
        assert not told
    asking.join(10)
    assert before <= carried_on
    assert len(told) == 1


def test_it_tells_the_time_of_the_database(engine: Engine) -> None:
    clock = DatabaseClock(engine)
    assert abs(clock() - utcnow()) < timedelta(minutes=1)
    assert clock() <= clock()
