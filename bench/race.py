"""One measurement for every contestant: N jobs wait, the workers may go, who is done?

The workers are up, warm and frozen while the jobs are put in.  The clock runs from the
moment at which they may go on until nothing waits or runs any more: starting up and
putting in are not part of it, waking up is.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.crew import Crew

#: Jobs that show that the workers work.
WARM: Final = 100
#: For all their processes to be up, in seconds.
_SETTLE: Final = 3.0
_START_SECONDS: Final = 60.0
_POLL: Final = 0.01


@dataclass(frozen=True, slots=True)
class Contestant:
    """One kind of workers, and how to see what is left for them to do."""

    title: str
    keeps: str  # what is left to read of a job that is done
    workers: Sequence[Sequence[str]]  # their commands
    fill: Callable[[int], None]
    #: How many jobs are not done; ``False``: any number above 0 will do.
    left: Callable[[bool], int]
    environ: Mapping[str, str] = field(default_factory=dict)


def race(one: Contestant, n: int, limit: float) -> float:
    """Return how many jobs were done a second, of ``n`` or within ``limit`` seconds.

    Raises:
        RuntimeError: the workers died, or did nothing.
    """
    with tempfile.TemporaryDirectory(prefix="carillon-race-") as folder:
        log = Path(folder) / "workers.log"
        with Crew(one.workers, one.environ, log) as crew:
            one.fill(WARM)
            if _wait(one, crew, _START_SECONDS):
                raise RuntimeError(f"{one.title} does nothing: {log.read_text()}")
            time.sleep(_SETTLE)
            crew.freeze()
            one.fill(n)
            started = time.perf_counter()
            crew.go()
            left = _wait(one, crew, limit)
            return (n - left) / (time.perf_counter() - started)


def _wait(one: Contestant, crew: Crew, limit: float) -> int:
    """Return how many are left: none, or some when the time is over."""
    deadline = time.monotonic() + limit
    while one.left(False):
        if time.monotonic() > deadline:
            return one.left(True)
        crew.check()
        time.sleep(_POLL)
    return 0
