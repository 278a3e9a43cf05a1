"""Huey on Redis, bare: one message for each job, two processes."""

from __future__ import annotations

from huey import RedisHuey

from bench.peers.places import REDIS_URL, do_nothing

huey = RedisHuey("bench", url=REDIS_URL, results=False)
noop = huey.task(name="noop")(do_nothing)


def fill(n: int) -> None:
    """Put ``n`` jobs in."""
    for _ in range(n):
        noop()
