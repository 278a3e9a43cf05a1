"""Where the peers find their servers: the harness says so in the environment."""

from __future__ import annotations

import os
from typing import Final

REDIS_URL: Final = os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1:6379/0")
#: A libpq address.
PG_URL: Final = os.environ.get("BENCH_PG_URL", "postgresql://127.0.0.1/bench")
#: Jobs of one round trip, where the peer can put in several at once.
CHUNK: Final = 1_000


def do_nothing() -> None:
    """Do what every contestant does."""
