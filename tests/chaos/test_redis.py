"""F06: Redis forgets, is full, sleeps, is gone, locks us out; only latency is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tests.chaos import tiers
from tests.chaos.harness import CALM, Installation
from tests.chaos.servers import OwnRedis
from tests.chaos.tiers import TIER
from tests.support.processes import until


def _forget(broker: OwnRedis) -> None:
    broker.tell("FLUSHALL")


def _fill(broker: OwnRedis) -> None:
    broker.tell("CONFIG", "SET", "maxmemory", "1")
    time.sleep(1.0)
    broker.tell("CONFIG", "SET", "maxmemory", "0")


def _sleep(broker: OwnRedis) -> None:
    broker.tell("CLIENT", "PAUSE", "4000")
    time.sleep(4.0)


def _go(broker: OwnRedis) -> None:
    broker.stop()
    time.sleep(1.0)
    broker.start()


def _go_and_remember(broker: OwnRedis) -> None:
    broker.tell("CONFIG", "SET", "appendonly", "yes")
    time.sleep(0.5)
    broker.stop()
    broker.start(remembers=True)  # bells of long ago ring again


def _lock_out(broker: OwnRedis) -> None:
    broker.tell("CONFIG", "SET", "requirepass", "somebody changed it")
    broker.tell(*("CLIENT", "KILL", "TYPE", "normal"), password="somebody changed it")
    time.sleep(1.0)
    broker.tell("CONFIG", "SET", "requirepass", "", password="somebody changed it")


FAULTS: tuple[Callable[[OwnRedis], None], ...] = (
    _forget,
    _fill,
    _sleep,
    _go,
    _go_and_remember,
    _lock_out,
)


@pytest.mark.timeout(TIER.timeout)
def test_a_redis_that_fails_costs_latency_only(
    brittle: Installation, broker: OwnRedis
) -> None:
    chance = tiers.chance("F06")
    n = max(1, TIER.n_events // TIER.n_rounds // len(FAULTS))
    brittle.start(2, **CALM)
    for _ in range(TIER.n_rounds):
        for strike in chance.sample(FAULTS, len(FAULTS)):
            reporting = threading.Thread(target=brittle.producer.emit, args=(n,))
            reporting.start()
            strike(broker)
            reporting.join()
    assert brittle.producer.n_retries == 0  # no producer is told of a broken Redis
    for process in brittle.workers:
        brittle.ready(process)
    brittle.drain(TIER.timeout)
    brittle.check()


@pytest.mark.timeout(TIER.timeout)
def test_without_redis_the_poll_does_everything(
    brittle: Installation, broker: OwnRedis
) -> None:
    (worker,) = brittle.start(**CALM)
    brittle.ready(worker)
    broker.stop()
    brittle.producer.emit(TIER.n_rounds)
    until(lambda: brittle.n_open() == 0, 60, 0.1)
    brittle.check()
    broker.start()
    brittle.drain()
