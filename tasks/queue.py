"""Huey's queues, one for each lane, and the doorbell that goes through them.

A message says only "lane X: look now".  It is JSON, never pickle, so that whoever can
write to the broker cannot run code here; losing one costs latency, never work.

The stock consumer can run any one lane: ``huey_consumer tasks.queue.executions``.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import redis
from huey import RedisHuey, SqliteHuey
from huey.api import Huey
from huey.registry import Message
from huey.serializer import Serializer

from tasks import doorbell
from tasks.config import Config
from tasks.lane import Lane
from tasks.models.lane import LaneTrigger
from tasks.registry import LANES
from tasks.registry import lane as find_lane

logger = logging.getLogger(__name__)

#: Module and name of the one task; it never changes, so that old and new workers
#: understand each other.
TASK_NAME: Final = "tasks.queue.sweep"
VERSION: Final = 1
#: A bell is a few words; anything longer is not ours.
MESSAGE_MAX: Final = 256
#: Bells that wait already make another one pointless.
BELLS_MAX: Final = 16
_REDIS_TIMEOUT: Final = 2.0  # seconds; ringing must never hold up a request

Sweeper = Callable[[str, LaneTrigger], None]


class BellSerializer(Serializer):  # type: ignore[misc]  # Huey is untyped
    """Turns Huey's message into ``{"v": 1, "lane": "executions"}`` and back."""

    def __init__(self, lane: str) -> None:
        super().__init__()
        self._lane = lane

    def _serialize(self, data: Any) -> bytes:  # noqa: ANN401  # Huey's own signature
        return json.dumps({"v": VERSION, "lane": self._lane}).encode()

    def _deserialize(self, data: bytes) -> Message:
        """Return a doorbell message.

        Raises:
            ValueError: these bytes are no bell of this lane; Huey drops them and logs.
        """
        if len(data) > MESSAGE_MAX:
            raise ValueError(f"a bell has at most {MESSAGE_MAX} bytes, not {len(data)}")
        bell = json.loads(data)
        # A newer version still means "look now", so its number is not compared.
        if not isinstance(bell, dict) or bell.get("lane") != self._lane:
            raise ValueError(f"not a bell of the lane {self._lane!r}")
        return Message("bell", TASK_NAME, None, 0, 0, None, (), {}, None, None)


class _Broker:
    """The queues of one installation, made when they are first needed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._config: Config | None = None
        self._queues: dict[str, Huey] = {}
        self.lost_bells = 0  # since the start; each cost latency, not work

    def configure(self, config: Config) -> None:
        with self._lock:
            if config != self._config:
                self.close()
                self._config = config
        doorbell.on_commit(ring)

    def close(self) -> None:
        with self._lock:
            for queue in self._queues.values():
                queue.storage.close()
            self._queues = {}

    def queue(self, name: str) -> Huey:
        with self._lock:
            if name not in self._queues:
                config = self._config or Config.from_environ(os.environ)
                self._queues[name] = _make_queue(config, find_lane(name))
            return self._queues[name]


_broker = _Broker()
_sweeper: Sweeper | None = None


def configure(config: Config) -> None:
    """Say where the queues are, and carry the doorbells of all commits to them."""
    _broker.configure(config)


def close() -> None:
    """Close this thread's connections to the broker; the next use opens new ones."""
    _broker.close()


def queue_of(lane: str) -> Huey:
    """Return the Huey queue of a lane.

    Raises:
        UnknownLane: there is no such lane.
    """
    return _broker.queue(lane)


def ring(lane: str) -> None:
    """Ask ``lane`` to look now; never raises, since its caller's work is committed.

    A bell that cannot be delivered is counted and logged: the poll finds the work.
    """
    try:
        queue = queue_of(lane)
        if queue.storage.queue_size() < BELLS_MAX:
            queue.storage.enqueue(queue.serializer.serialize(None))
    except Exception:  # whatever ails the broker, the commit stands
        _broker.lost_bells += 1
        logger.warning("doorbell.lost", extra={"lane": lane}, exc_info=True)


def ping() -> None:
    """Ask the broker for an answer.

    Raises:
        Exception: whatever the broker's library raises when it does not answer.
    """
    queue_of(LANES[0].name).storage.queue_size()


def sweep_with(sweeper: Sweeper) -> None:
    """Say who sweeps when a stock consumer receives a bell or a tick."""
    global _sweeper  # one process, one sweeper
    _sweeper = sweeper


def _make_queue(config: Config, lane: Lane) -> Huey:
    name = f"carillon-{lane.name}"
    common = {"results": False, "utc": True, "serializer": BellSerializer(lane.name)}
    if config.redis_url is not None:
        pool = redis.ConnectionPool.from_url(
            config.redis_url,
            socket_timeout=_REDIS_TIMEOUT + 1,  # more than a blocking read lasts
            socket_connect_timeout=_REDIS_TIMEOUT,
        )
        queue = RedisHuey(name, connection_pool=pool, read_timeout=1, **common)
    else:
        queue = SqliteHuey(name, filename=str(config.var_dir / "queue.db"), **common)
    _add_task(queue, lane)
    return queue


def _add_task(queue: Huey, lane: Lane) -> None:
    """Register the lane as a periodic task, for the stock consumer and our own."""

    def is_time(moment: datetime) -> bool:
        # The stock consumer asks once a minute; a lane of an hour runs on the hour.
        minutes = int(lane.every.total_seconds() // 60)
        instant = moment.replace(tzinfo=UTC)  # Huey hands over naive UTC
        return minutes < 2 or (instant.hour * 60 + instant.minute) % minutes == 0

    def sweep() -> None:
        _the_sweeper()(lane.name, LaneTrigger.CLOCK)

    queue.periodic_task(is_time, name="sweep")(sweep)


def _the_sweeper() -> Sweeper:
    if _sweeper is None:
        from tasks.assembly import make_sweeper  # only a stock consumer gets here

        sweep_with(make_sweeper(Config.from_environ(os.environ)))
    assert _sweeper is not None  # noqa: S101  # the line above set it
    return _sweeper


def __getattr__(name: str) -> Huey:
    """Give ``huey_consumer tasks.queue.<lane>`` its queue."""
    if any(name == each.name for each in LANES):
        return queue_of(name)
    raise AttributeError(f"module 'tasks.queue' has no attribute {name!r}")
