"""PgQueuer on PostgreSQL: two processes; the batch size is the command line's."""

from __future__ import annotations

import asyncio
import signal

import asyncpg
from pgqueuer import PgQueuer, Queries
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job

from bench.peers.places import CHUNK, PG_URL


async def _noop(_job: Job) -> None:
    """Do nothing."""


async def _run(batch: int) -> None:
    connection = await asyncpg.connect(PG_URL)
    made = PgQueuer(AsyncpgDriver(connection))
    made.entrypoint("noop")(_noop)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, made.shutdown.set)
    await made.run(batch_size=batch)


def run(batch: int) -> None:
    """Work until SIGTERM; its own command line fails with this release of click."""
    asyncio.run(_run(batch))


async def _fill(n: int) -> None:
    connection = await asyncpg.connect(PG_URL)
    queries = Queries(AsyncpgDriver(connection))
    for start in range(0, n, CHUNK):
        count = min(CHUNK, n - start)
        await queries.enqueue(["noop"] * count, [None] * count, [0] * count)
    await connection.close()


async def _install() -> None:
    connection = await asyncpg.connect(PG_URL)
    await Queries(AsyncpgDriver(connection)).install()
    await connection.close()


def install() -> None:
    """Make its tables."""
    asyncio.run(_install())


def fill(n: int) -> None:
    """Put ``n`` jobs in, many at once."""
    asyncio.run(_fill(n))
