"""Celery on Redis: prefork, acknowledged after the work."""

from __future__ import annotations

from celery import Celery

from bench.peers.places import REDIS_URL, do_nothing

app = Celery("bench", broker=REDIS_URL)
app.conf.update(task_acks_late=True, task_ignore_result=True)
noop = app.task(name="noop")(do_nothing)


def fill(n: int) -> None:
    """Put ``n`` jobs in; Celery has no way to send several at once."""
    with app.producer_pool.acquire(block=True) as producer:
        for _ in range(n):
            noop.apply_async(producer=producer)
