"""Pages: what each page of the console costs with few and with a million executions."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import report, servers
from bench.house import House, house
from bench.settings import PAGE_SIZES, PAGE_VISITS, say

#: What a page may take at its slowest but one of twenty, in ms.
GOALS: Final = {"PostgreSQL": 50.0, "SQLite": 100.0}
#: How much slower a page may become from the smallest house to the largest.
GROWTH_MAX: Final = 1.3
#: Pages that the note names, the slowest ones.
_SHOWN: Final = 15
_HEAD: Final = ("Database", "Page", "p50 / p95, ms", "growth of p50", "kB")


@dataclass(frozen=True, slots=True)
class Seen:
    """What one page cost in one house."""

    times: Sequence[float]  # ms
    cpu: Sequence[float]  # ms of this process; SQLite's own are among them
    size: int  # bytes

    @property
    def p50(self) -> float:
        """The median time."""
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        """The time that one visit of twenty exceeds."""
        return sorted(self.times)[min(len(self.times) - 1, int(len(self.times) * 0.95))]


@dataclass(frozen=True, slots=True)
class Line:
    """One page in all houses, the smallest first."""

    name: str
    seen: Sequence[Seen]

    @property
    def growth(self) -> float:
        """How many times as long the median takes in the largest house."""
        return self.seen[-1].p50 / self.seen[0].p50


def compare(houses: Sequence[House], visits: int) -> list[Line]:
    """Visit each page of all houses in turn, so that what disturbs one disturbs all."""
    lines = []
    named = [{visit.name: visit for visit in each.visits} for each in houses]
    # A small house may have no second page of something.
    everywhere = [name for name in named[0] if all(name in each for each in named)]
    for same in ([each[name] for each in named] for name in everywhere):
        taken: list[list[tuple[float, float]]] = [[] for _ in houses]
        sizes = [0] * len(houses)
        for number in range(visits + 1):
            for place, (at, visit) in enumerate(zip(houses, same, strict=True)):
                began, worked = time.perf_counter(), time.thread_time()
                sizes[place] = at.see(visit)
                if number:  # before that: statements and templates are made
                    took = time.perf_counter() - began, time.thread_time() - worked
                    taken[place].append((took[0] * 1_000, took[1] * 1_000))
        seen = [
            Seen([a for a, _ in times], [b for _, b in times], size)
            for times, size in zip(taken, sizes, strict=True)
        ]
        lines.append(Line(same[0].name, seen))
        say(told(lines[-1]))
    return lines


def told(line: Line) -> str:
    """Return all that is known of a page on one line."""
    each = " | ".join(
        f"{one.p50:6.1f} {one.p95:6.1f} cpu {statistics.median(one.cpu):6.1f}"
        for one in line.seen
    )
    return f"  {each} | x{line.growth:4.2f} {line.seen[-1].size:8,} B  {line.name}"


def measure() -> str:
    """Return the slowest pages of both databases, and how many keep the goals."""
    rows: list[tuple[str, ...]] = []
    sentences = []
    for name, goal in GOALS.items():
        say(name)
        with ExitStack() as stack:
            urls = servers.several(stack, name, len(PAGE_SIZES))
            folders = (
                Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in urls
            )
            houses = [
                stack.enter_context(house(url, n, folder))
                for url, n, folder in zip(urls, PAGE_SIZES, folders, strict=True)
            ]
            lines = compare(houses, PAGE_VISITS)
        sentences.append(_sentence(name, goal, lines))
        rows += _rows(name, lines)
    sizes = f"{PAGE_SIZES[0]:,} and {PAGE_SIZES[-1]:,}"
    head = (
        f"Every page and fragment, {PAGE_VISITS} visits each, with {sizes} executions. "
        f"{' '.join(sentences)} The slowest {_SHOWN} of each, and what grew most:"
    )
    return f"{head}\n\n{report.table(_HEAD, rows)}"


def _sentence(name: str, goal: float, lines: Sequence[Line]) -> str:
    quick = sum(line.seen[-1].p95 < goal for line in lines)
    level = sum(line.growth < GROWTH_MAX for line in lines)
    return (
        f"{name}: of {len(lines)} addresses {quick} have a p95 below {goal:.0f} ms, "
        f"and {level} grow less than {GROWTH_MAX} times."
    )


def _rows(name: str, lines: Sequence[Line]) -> list[tuple[str, ...]]:
    slowest = sorted(lines, key=lambda line: -line.seen[-1].p95)[:_SHOWN]
    others = [line for line in lines if line not in slowest]
    grown = [line for line in others if line.growth >= GROWTH_MAX]
    return [
        (
            name,
            f"`{line.name}`",
            " → ".join(f"{one.p50:.1f} / {one.p95:.1f}" for one in line.seen),
            f"**{line.growth:.2f}**",
            f"{line.seen[-1].size / 1_000:.0f}",
        )
        for line in [*slowest, *grown]
    ]
