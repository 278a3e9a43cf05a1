"""RQ: a fork for each job, or its simple worker without forks."""

from __future__ import annotations

from redis import Redis
from rq import Queue

from bench.peers.places import CHUNK, REDIS_URL, do_nothing


def fill(n: int) -> None:
    """Put ``n`` jobs in, many at once."""
    queue = Queue("bench", connection=Redis.from_url(REDIS_URL))
    for start in range(0, n, CHUNK):
        jobs = [Queue.prepare_data(do_nothing) for _ in range(min(CHUNK, n - start))]
        queue.enqueue_many(jobs)
