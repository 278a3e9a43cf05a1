"""The contestants of the drain: ours, and what people would pick instead."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis
from sqlalchemy.engine import URL

from bench import servers
from bench.counting import analyze, keys_left, rows_left
from bench.crew import ROOT
from bench.ours import ours
from bench.race import Contestant

#: Where ``make bench PEERS=1`` installs them.
PYTHON: Final = Path(os.environ.get("PEERS_PYTHON", ROOT / "build/peers/bin/python"))
_BIN: Final = PYTHON.parent


@dataclass(frozen=True, slots=True)
class Rival:
    """One row of the table below."""

    title: str
    keeps: str
    module: str  # of bench.peers
    workers: tuple[tuple[str, ...], ...]
    #: Redis keys, or a SELECT without a count, that hold what is not done.
    left: tuple[str, ...] = ()
    query: str = ""


def _bin(name: str, *arguments: str) -> tuple[str, ...]:
    return (str(_BIN / name), *arguments)


def _rq(kind: str) -> tuple[str, ...]:
    return _bin("rq", "worker", "bench", "-q", "-w", kind, "-u", "{redis}")


def _pgqueuer(batch: int) -> Rival:
    run = _bin("python", "-m", "bench.peers", "pgqueuer_peer", "run", str(batch))
    return Rival(
        f"PgQueuer, 2 processes, batch {batch:,}",
        "a log row",
        "pgqueuer_peer",
        (run,) * 2,
        query="FROM pgqueuer WHERE status IN ('queued', 'picked')",
    )


RIVALS: Final = (
    Rival(
        "Celery + Redis, prefork 2, late ack",
        "nothing",
        "celery_peer",
        (
            _bin(
                *("celery", "-A", "bench.peers.celery_peer", "worker"),
                *("-c", "2", "-P", "prefork", "-l", "ERROR", "--without-gossip"),
            ),
        ),
        left=("celery", "unacked"),
    ),
    Rival(
        "RQ, 2 workers, a fork a job",
        "the job for 500 s",
        "rq_peer",
        (_rq("rq.worker.Worker"),) * 2,
        left=("rq:queue:bench", "rq:wip:bench"),
    ),
    Rival(
        "RQ, 2 simple workers",
        "the job for 500 s",
        "rq_peer",
        (_rq("rq.worker.SimpleWorker"),) * 2,
        left=("rq:queue:bench", "rq:wip:bench"),
    ),
    Rival(
        "Dramatiq + Redis, 2 processes x 8 threads",
        "nothing",
        "dramatiq_peer",
        (_bin("dramatiq", "bench.peers.dramatiq_peer", "-p", "2", "-t", "8"),),
        left=("dramatiq:bench.msgs",),
    ),
    Rival(
        "Huey + Redis, 2 processes",
        "nothing",
        "huey_peer",
        (
            _bin(
                *("huey_consumer", "bench.peers.huey_peer.huey"),
                *("-k", "process", "-w", "2", "-q"),
            ),
        ),
        left=("huey.redis.bench",),
    ),
    Rival(
        "Procrastinate, 2 workers x 10",
        "the job's row, its events",
        "procrastinate_peer",
        (
            _bin(
                *("procrastinate", "-a", "bench.peers.procrastinate_peer.app"),
                *("worker", "-c", "10"),
            ),
        )
        * 2,
        query="FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
    ),
    _pgqueuer(10),
    _pgqueuer(200),
    _pgqueuer(1_000),
)


@contextmanager
def contestant(title: str, server: URL, redis_url: str) -> Iterator[Contestant]:
    """Return the contestant of that title, on an empty database and an empty Redis."""
    with (
        redis.Redis.from_url(redis_url) as client,
        servers.database(server, "r") as url,
    ):
        client.flushall()
        rival = next((each for each in RIVALS if each.title == title), None)
        if rival is None:
            with ours(title, url, redis_url) as made:
                yield made
        else:
            yield _of(rival, url, redis_url, client)


def _of(rival: Rival, url: URL, redis_url: str, client: redis.Redis) -> Contestant:
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    environ = {
        "BENCH_REDIS_URL": redis_url,
        "BENCH_PG_URL": address,
        "PGDSN": address,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }

    def call(*arguments: str) -> None:
        subprocess.run(  # noqa: S603  # our own modules
            [str(PYTHON), "-m", "bench.peers", rival.module, *arguments],
            env={**os.environ, **environ},
            cwd=ROOT,
            check=True,
            timeout=300,
            stdout=sys.stderr,
        )

    def fill(n: int) -> None:
        call("fill", str(n))
        if rival.query:
            analyze(address)

    if rival.query:
        call("install")
    left = (
        rows_left(address, rival.query)
        if rival.query
        else keys_left(client, rival.left)
    )
    workers = [[word.format(redis=redis_url) for word in one] for one in rival.workers]
    return Contestant(rival.title, rival.keeps, workers, fill, left, environ)


def versions() -> str:
    """Return the peers' versions; nothing when they are not installed."""
    if not PYTHON.exists():
        return ""
    names = ("celery", "rq", "dramatiq", "huey", "procrastinate", "pgqueuer", "asyncpg")
    ask = (
        "import sys; from importlib.metadata import version; "
        "print(', '.join(f'{name} {version(name)}' for name in sys.argv[1:]))"
    )
    told = subprocess.run(  # noqa: S603  # our own words
        [str(PYTHON), "-c", ask, *names],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return f"Peers: {told.stdout.strip()}."
