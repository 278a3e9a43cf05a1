"""Procrastinate on PostgreSQL: two workers with ten jobs at once each."""

from __future__ import annotations

from procrastinate import App, PsycopgConnector, SyncPsycopgConnector

from bench.peers.places import CHUNK, PG_URL

app = App(connector=PsycopgConnector(conninfo=PG_URL))


async def _do_nothing() -> None:
    """Do nothing, without a thread."""


noop = app.task(name="noop")(_do_nothing)


def install() -> None:
    """Make its tables."""
    with app.replace_connector(SyncPsycopgConnector(conninfo=PG_URL)) as one:
        one.open()
        one.schema_manager.apply_schema()
        one.close()


def fill(n: int) -> None:
    """Put ``n`` jobs in, many at once."""
    with app.replace_connector(SyncPsycopgConnector(conninfo=PG_URL)) as one:
        one.open()
        for start in range(0, n, CHUNK):
            noop.batch_defer(*({} for _ in range(min(CHUNK, n - start))))
        one.close()
