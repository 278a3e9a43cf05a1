"""Doorbells: JSON that says only which lane, on both brokers, and harmless if lost."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from huey.api import Huey
from sqlalchemy.orm import Session, sessionmaker

from tasks import doorbell, queue
from tasks.config import Config
from tasks.errors import UnknownLane
from tests.support.servers import free_port


def _config(tmp_path: Path, **settings: str) -> Config:
    return Config.from_environ({"VAR_DIR": str(tmp_path), **settings})


@pytest.fixture(params=["sqlite", "redis"])
def bells(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Huey]:
    """Return the queue of the lane ``executions`` on both brokers in turn."""
    redis_url = ""
    if request.param == "redis":
        redis_url = request.getfixturevalue("redis_url")
    queue.configure(_config(tmp_path, REDIS_URL=redis_url))
    yield queue.queue_of("executions")
    queue.queue_of("executions").storage.close()


def test_a_bell_is_json_that_names_the_lane_and_nothing_else(bells: Huey) -> None:
    queue.ring("executions")
    [raw] = bells.storage.enqueued_items()
    assert bytes(raw) == b'{"v": 1, "lane": "executions"}'


def test_a_bell_is_heard_as_the_sweep_of_its_lane(bells: Huey) -> None:
    queue.ring("executions")
    task = bells.dequeue()
    assert task is not None
    assert task.name == "sweep"
    assert bells.dequeue() is None


def test_bells_do_not_pile_up(bells: Huey) -> None:
    for _ in range(queue.BELLS_MAX * 3):
        queue.ring("executions")
    assert bells.storage.queue_size() == queue.BELLS_MAX


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("/tmp/carillon-bomb"),))


@pytest.mark.parametrize(
    "raw",
    [
        pickle.dumps(_Bomb()),
        b"\x1f\x8b" + b"0" * 100,
        b"x" * 10_000,
        b'{"v": 1, "lane": "janitor"}',
        b"[]",
        b"",
    ],
)
def test_a_foreign_message_is_refused_and_runs_nothing(bells: Huey, raw: bytes) -> None:
    bells.storage.enqueue(raw)
    with pytest.raises(ValueError):  # noqa: PT011  # JSON's own error is one as well
        bells.dequeue()
    assert not Path("/tmp/carillon-bomb").exists()
    assert bells.storage.queue_size() == 0


def test_a_newer_bell_still_means_look_now(bells: Huey) -> None:
    bells.storage.enqueue(b'{"v": 99, "lane": "executions", "more": true}')
    assert bells.dequeue() is not None


def test_a_broker_that_is_gone_costs_a_bell_and_no_error(tmp_path: Path) -> None:
    queue.configure(_config(tmp_path, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"))
    queue.ring("executions")


def test_there_is_no_queue_for_an_unknown_lane(tmp_path: Path) -> None:
    queue.configure(_config(tmp_path))
    with pytest.raises(UnknownLane, match="executions"):
        queue.queue_of("nonsense")


def test_a_stock_consumer_finds_its_queue_by_name(tmp_path: Path) -> None:
    queue.configure(_config(tmp_path))
    assert queue.executions.name == "carillon-executions"
    with pytest.raises(AttributeError):
        queue.nonsense  # noqa: B018  # the access itself is the test


def test_a_bell_rings_after_the_commit_and_not_after_a_rollback(
    bells: Huey, make_session: sessionmaker[Session]
) -> None:
    with make_session.begin() as session:
        doorbell.ask(session, "executions")
        assert bells.storage.queue_size() == 0
    assert bells.storage.queue_size() == 1

    with make_session() as session:
        session.begin()
        doorbell.ask(session, "executions")
        session.rollback()
        session.commit()
    assert bells.storage.queue_size() == 1


def test_savepoints_neither_ring_early_nor_lose_bells(
    bells: Huey, make_session: sessionmaker[Session]
) -> None:
    with make_session.begin() as session:
        doorbell.ask(session, "executions")
        with session.begin_nested():
            pass
        with session.begin_nested() as savepoint:
            savepoint.rollback()
        assert bells.storage.queue_size() == 0
    assert bells.storage.queue_size() == 1
