"""How much is left to do, asked cheaply and often while others work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import psycopg
import redis

#: How a kind of Redis key is counted.
_COUNTERS: Final = {"list": "LLEN", "zset": "ZCARD", "hash": "HLEN", "none": "EXISTS"}


def rows_left(address: str, *queries: str) -> Callable[[bool], int]:
    """Count rows; each query begins with FROM.  Counting stops at 1 unless exact."""
    connection = psycopg.connect(address, autocommit=True)

    def left(is_exact: bool) -> int:
        what = "count(*)" if is_exact else "1"
        end = "" if is_exact else " LIMIT 1"
        rows = (
            connection.execute(f"SELECT {what} {query}{end}".encode()).fetchone()
            for query in queries
        )
        found = (int(row[0]) for row in rows if row)
        return sum(found) if is_exact else int(any(found))

    return left


def keys_left(client: redis.Redis, keys: Sequence[str]) -> Callable[[bool], int]:
    """Count what Redis keys hold, whatever kind they are of."""

    def left(_is_exact: bool) -> int:
        total = 0
        for key in keys:
            counter = _COUNTERS[str(_ask(client, "TYPE", key), "ascii")]
            total += int(_ask(client, counter, key))
        return total

    return left


def _ask(client: redis.Redis, *words: str) -> Any:  # noqa: ANN401  # redis has no types for it
    return client.execute_command(*words)  # type: ignore[no-untyped-call]  # redis has no types for it


def analyze(address: str) -> None:
    """Let PostgreSQL's planner know what is there, as it would on any old database."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ANALYZE")
