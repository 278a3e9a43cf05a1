"""Our side of the race: two worker processes with the lane ``executions`` alone."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL

from bench.counting import analyze, rows_left
from bench.draining import fill_and_ring
from bench.product import NOOP
from bench.race import Contestant
from bench.world import make_world
from tasks import queue
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.models.lane import LaneSetting

#: Worker processes, one for each core.
PROCESSES: Final = 2
#: Sweeps at once in each process; 0: as the registry has it.
SWEEPS: Final = int(os.environ.get("SWEEPS", "0"))
#: What is raced: the title, the rule's action, and what is left to read of a job.
OURS: Final[Mapping[str, tuple[str, str]]] = {
    "Carillon, no-op": (NOOP, "its context, each attempt, its end"),
    "Carillon, e-mail without a mail server": (
        "email",
        "its context, the message, each attempt, its end",
    ),
}


def environment(url: URL, redis_url: str | None, folder: Path) -> dict[str, str]:
    """Return the settings of an installation on these servers."""
    return {
        "DATABASE_URL": url.render_as_string(hide_password=False),
        "REDIS_URL": redis_url or "",
        "VAR_DIR": str(folder),
        "SECRET_KEY": "bench-key-0123456789-abcdefghijklmnop",
        "CARILLON_ENV": "development",
        "HEALTH_PORT": "0",
        "TZ": "UTC",
    }


@contextmanager
def ours(title: str, url: URL, redis_url: str) -> Iterator[Contestant]:
    """Return us as a contestant, on an empty database."""
    action, keeps = OURS[title]
    engine = make_engine(url)
    world = make_world(engine, action)
    if SWEEPS:
        with sessions(engine).begin() as session:
            session.add(LaneSetting(lane="executions", workers=SWEEPS))
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with tempfile.TemporaryDirectory(prefix="carillon-bench-") as folder:
        environ = environment(url, redis_url, Path(folder))
        queue.configure(Config.from_environ(environ))

        def fill(n: int) -> None:
            fill_and_ring(engine, world, n, PROCESSES)
            analyze(address)

        worker = [sys.executable, "-m", "bench.product", "idle", "executions"]
        states = ("pending", "running")
        left = rows_left(
            address, *(f"FROM executions WHERE state = '{each}'" for each in states)
        )
        try:
            yield Contestant(title, keeps, [worker] * PROCESSES, fill, left, environ)
        finally:
            queue.close()
            engine.dispose()
