"""Pages: what each page of the console costs with few and with a million executions."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench import report, servers
from bench.house import House, Visit, house
from bench.settings import PAGE_SIZES, PAGE_VISITS, say
from bench.spent import Cost, Meter, meter
from tasks import heap

#: What a page may take at its slowest but one of twenty, in ms.
GOALS: Final = {"PostgreSQL": 50.0, "SQLite": 100.0}
#: How much slower a page may become from the smallest house to the largest.
GROWTH_MAX: Final = 1.3
#: Visits before those that count: templates are made, and the driver prepares what it
#: was asked five times.
_WARM: Final = 6
#: Visits of each smaller house: only its median is looked at.
_FEW: Final = 5
#: Pages that the note names, the slowest ones.
_SHOWN: Final = 10
#: A page with nothing on it but what every page has.
_FLOOR: Final = "/account/password"
_HEAD: Final = ("Database", "Page", "p50 / p95, ms", "processor p50 / p95", "growth")


@dataclass(slots=True)
class Seen:
    """What one page cost in one house, visit by visit."""

    costs: list[Cost] = field(default_factory=list)
    size: int = 0  # bytes

    @property
    def clock(self) -> tuple[float, float]:
        """The median and the p95 of what the clock showed."""
        return _quantiles([cost.clock for cost in self.costs])

    @property
    def work(self) -> tuple[float, float]:
        """The same of the processor time."""
        return _quantiles([cost.work for cost in self.costs])


@dataclass(frozen=True, slots=True)
class Line:
    """One page in all houses, the smallest first."""

    name: str
    seen: Sequence[Seen]

    @property
    def growth(self) -> float:
        """How many times the processor time of the smallest house the largest takes."""
        return self.seen[-1].work[0] / self.seen[0].work[0]

    def told(self) -> str:
        """Return all that is known of it on one line."""
        each = " | ".join(
            f"{_pair(one.clock)} cpu {_pair(one.work)}" for one in self.seen
        )
        return f"  {each} | x{self.growth:4.2f} {self.seen[-1].size:8,} B  {self.name}"


def _quantiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the median, and what one value of twenty exceeds.

    >>> _quantiles([3.0, 1.0, 2.0])
    (2.0, 3.0)
    """
    ordered = sorted(values)
    place = math.ceil(len(ordered) * 0.95) - 1  # the nearest rank
    return statistics.median(ordered), ordered[place]


def _pair(values: tuple[float, float]) -> str:
    return f"{values[0]:.1f} / {values[1]:.1f}"


def compare(houses: Sequence[House], visits: int, by: Meter) -> list[Line]:
    """Visit each page of all houses in turn, so that what disturbs one disturbs all."""
    named = [{visit.name: visit for visit in each.visits} for each in houses]
    # A small house may have no second page of something.
    everywhere = [name for name in named[0] if all(name in each for each in named)]
    lines = []
    for name in everywhere:
        same = [each[name] for each in named]
        lines.append(Line(name, _visit(houses, same, visits, by)))
        say(lines[-1].told())
    return lines


def _visit(
    houses: Sequence[House], same: Sequence[Visit], visits: int, by: Meter
) -> list[Seen]:
    found = [Seen() for _ in houses]
    for number in range(_WARM + visits):
        for at, visit, seen in zip(houses, same, found, strict=True):
            if at is not houses[-1] and number >= _WARM + _FEW:
                continue
            with by.measured(seen.costs if number >= _WARM else []):
                seen.size = at.see(visit)
    return found


def measure() -> str:
    """Return the slowest pages of both databases, and how many keep the goals."""
    rows: list[tuple[str, ...]] = []
    sentences = []
    for name, goal in GOALS.items():
        say(name)
        lines = _lines(name)
        sentences.append(_sentence(name, goal, lines))
        rows += _rows(name, lines)
    head = (
        f"Every page and fragment, {PAGE_VISITS} visits each of the house with "
        f"{PAGE_SIZES[-1]:,} executions after {_WARM} that do not count; growth is "
        f"that of the processor time since {PAGE_SIZES[0]:,}."
    )
    told = "\n".join(f"- {sentence}" for sentence in sentences)
    shown = f"The slowest {_SHOWN} of each, and what else grew most:"
    return f"{head}\n\n{told}\n\n{shown}\n\n{report.table(_HEAD, rows)}"


def _lines(name: str) -> list[Line]:
    with ExitStack() as stack:
        by = stack.enter_context(meter())
        urls = servers.several(stack, name, len(PAGE_SIZES))
        folders = (
            Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in urls
        )
        houses = [
            stack.enter_context(house(url, n, folder))
            for url, n, folder in zip(urls, PAGE_SIZES, folders, strict=True)
        ]
        for each in houses[-1].visits:
            houses[-1].see(each)  # what a server has seen before is warm
        heap.set_aside()  # as the server does
        return compare(houses, PAGE_VISITS, by)


def _sentence(name: str, goal: float, lines: Sequence[Line]) -> str:
    last = [line.seen[-1] for line in lines]
    quick = sum(seen.clock[1] < goal for seen in last)
    light = sum(seen.work[1] < goal for seen in last)
    level = sum(line.growth < GROWTH_MAX for line in lines)
    floor = next(line.seen[-1] for line in lines if line.name == _FLOOR)
    half = statistics.median(seen.clock[0] for seen in last)
    return (
        f"{name}: of {len(lines)} addresses {quick} have a p95 below {goal:.0f} ms by"
        f" the clock and {light} in processor time, the database's included; {level}"
        f" grow less than {GROWTH_MAX} times. Half of them take less than {half:.0f}"
        f" ms; what every page has takes {floor.clock[0]:.1f} ms (`{_FLOOR}`)."
    )


def _rows(name: str, lines: Sequence[Line]) -> list[tuple[str, ...]]:
    slowest = sorted(lines, key=lambda line: -line.seen[-1].clock[1])[:_SHOWN]
    others = [line for line in lines if line not in slowest]
    grown = sorted(others, key=lambda line: -line.growth)[:_SHOWN]
    return [
        (
            name,
            f"`{line.name}`",
            _pair(line.seen[-1].clock),
            _pair(line.seen[-1].work),
            f"**{line.growth:.2f}**",
        )
        for line in [*slowest, *(each for each in grown if each.growth >= GROWTH_MAX)]
    ]
