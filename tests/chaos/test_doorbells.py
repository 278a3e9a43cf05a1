"""F21: while versions change, bells of old, new and foreign make ring side by side."""

from __future__ import annotations

import pickle

import pytest
import redis

from tasks.queue import queue_of
from tasks.registry import LANES
from tests.chaos import tiers
from tests.chaos.harness import CALM, Installation
from tests.chaos.tiers import TIER

BELLS = (
    b'{"v": 0, "lane": "executions"}',
    b'{"v": 2, "lane": "executions", "why": ["event"]}',
    b'{"v": 1, "lane": "of another version"}',
    b'["executions"]',
    b"not a bell at all",
    pickle.dumps({"lane": "executions"}),
    b"{" * 5_000,
    b"",
)


@pytest.mark.timeout(TIER.timeout)
def test_bells_of_other_versions_lose_nothing(
    system: Installation, redis_url: str
) -> None:
    chance = tiers.chance("F21")
    system.start(2, **CALM)
    with redis.Redis.from_url(redis_url) as client:
        for _ in range(TIER.n_events):
            for lane in LANES:
                client.lpush(
                    queue_of(lane.name).storage.queue_key, chance.choice(BELLS)
                )
            system.producer.emit()
    for process in system.workers:
        system.ready(process)
    system.drain(TIER.timeout)
    history = system.check()
    assert {each.attempt for each in history.executions} == {1}
