"""Dramatiq on Redis: two processes with eight threads each."""

from __future__ import annotations

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench.peers.places import REDIS_URL, do_nothing

dramatiq.set_broker(RedisBroker(url=REDIS_URL))
noop = dramatiq.actor(actor_name="noop", queue_name="bench")(do_nothing)


def fill(n: int) -> None:
    """Put ``n`` jobs in; Dramatiq has no way to send several at once."""
    for _ in range(n):
        noop.send()
