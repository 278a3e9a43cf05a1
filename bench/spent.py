"""What a request costs in processor time: of this process, and of PostgreSQL for it.

A busy machine stretches what the clock shows, and this far less.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Engine, event


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request took, in ms."""

    clock: float
    work: float  # processor time


@dataclass(slots=True)
class Meter:
    """Knows the server's processes that work for this one."""

    servers: set[Path] = field(default_factory=set)

    def note(self, connection: Any, _record: object) -> None:  # noqa: ANN401  # any driver's
        """Remember which process serves a new connection."""
        if isinstance(connection, psycopg.Connection):
            self.servers.add(Path(f"/proc/{connection.info.backend_pid}/schedstat"))

    @contextmanager
    def measured(self, into: list[Cost]) -> Iterator[None]:
        """Add what the block costs."""
        began, worked = time.perf_counter(), self._worked()
        yield
        clock = time.perf_counter() - began
        into.append(Cost(clock * 1_000, self._worked() - worked))

    def _worked(self) -> float:
        """Return the processor time so far, in ms; only Linux tells the server's."""
        there = [each for each in self.servers if each.exists()]
        of_servers = sum(int(each.read_text().split()[0]) for each in there)
        return time.thread_time() * 1_000 + of_servers / 1_000_000


@contextmanager
def meter() -> Iterator[Meter]:
    """Measure what is asked of databases that are connected to within the block."""
    found = Meter()
    event.listen(Engine, "connect", found.note)
    try:
        yield found
    finally:
        event.remove(Engine, "connect", found.note)
