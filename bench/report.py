"""Turning measurements into docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, text

_PACKAGES: Final = ("sqlalchemy", "psycopg", "huey", "python-liquid", "redis")


@dataclass(slots=True)
class Pair:
    """One figure: ours and the other side's, measured in turn."""

    title: str
    unit: str
    ours: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        return statistics.median(
            a / b for a, b in zip(self.ours, self.other, strict=True)
        )

    def line(self) -> tuple[str, ...]:
        """Return the figure as cells of a table."""
        spread = f"{min(self.ours):,.0f} to {max(self.ours):,.0f}"
        return (
            self.title,
            f"{statistics.median(self.ours):,.0f} ({spread})",
            f"{statistics.median(self.other):,.0f}",
            f"**{self.ratio:.2f}**",
        )


def quantiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return median, p99 and the largest."""
    ordered = sorted(values)
    return (
        statistics.median(ordered),
        ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
        ordered[-1],
    )


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def machine(engines: Iterable[Engine]) -> str:
    """Return where and with what it was measured, as a list."""
    servers = []
    for engine in engines:
        is_sqlite = engine.dialect.name == "sqlite"
        ask = "SELECT sqlite_version()" if is_sqlite else "SHOW server_version"
        with engine.connect() as connection:
            told = connection.execute(text(ask)).scalar_one()
        servers.append(f"{'SQLite' if is_sqlite else 'PostgreSQL'} {told}")
    one, five, _ = os.getloadavg()
    return "\n".join(
        [
            f"- {os.cpu_count()} cores, {platform.machine()}, {platform.system()}; "
            f"load average at the end {one:.1f} (1 min), {five:.1f} (5 min)",
            f"- Python {platform.python_version()}, {', '.join(servers)}",
            "- " + ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
            "- PostgreSQL: fsync and synchronous_commit on; SQLite: WAL, "
            "synchronous=FULL",
            f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        ]
    )


def write(path: Path, name: str, body: str) -> None:
    """Put ``body`` between the marks called ``name`` in the file at ``path``.

    Raises:
        ValueError: the file has no such marks.
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    whole = path.read_text()
    head, tail = whole.index(begin) + len(begin), whole.index(end)
    path.write_text(whole[:head] + body + "\n" + whole[tail:])
