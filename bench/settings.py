"""How much is measured: read from the environment, as ``make bench`` passes it."""

from __future__ import annotations

import os
import sys
from typing import Final


def _number(name: str, default: int) -> int:
    return int(os.environ.get(name) or default)


#: Rounds of each measurement; their median counts.
ROUNDS: Final = _number("RUNS", 5)
#: Jobs that are drained.
N_JOBS: Final = _number("N", 20_000)
#: Events that are emitted in batches; one by one a twentieth of them.
N_EVENTS: Final = _number("EMIT", 10_000)
#: Scheduled jobs that come due within a minute.
N_SCHEDULED: Final = _number("SCHEDULED", 100_000)
#: Addresses of a sync.
N_ADDRESSES: Final = _number("ADDRESSES", 1_000_000)
#: What one contestant may take for one round, in seconds.
LIMIT: Final = float(_number("LIMIT", 60))
#: Finished executions of the large table; the sizes on the way are measured as well.
SIZES: Final = tuple(
    int(size)
    for size in (os.environ.get("SIZES") or "10000,1000000,5000000").split(",")
)
#: Executions of the houses whose pages are visited, and how often each is.
PAGE_SIZES: Final = tuple(
    int(size) for size in (os.environ.get("SIZES") or "10000,1000000").split(",")
)
PAGE_VISITS: Final = _number("VISITS", 20)


def say(words: str) -> None:
    """Tell who waits how it goes."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
