"""Where bars and lines of a chart lie; the template only writes them down."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from dashboard.charts.series import OUTCOMES, QUANTILES, Series, Step
from tasks.models import Measure

#: The plot's own units; it is stretched to the width that there is.
WIDTH: Final = 1_000
HEIGHT: Final = 150
_TOP: Final = 8  # free above the highest bar
#: Times that the axis of a logarithmic scale may name, in seconds.
_TICKS: Final = (0.01, 0.1, 1, 10, 60, 600, 3_600, 21_600, 86_400, 345_600)


@dataclass(frozen=True, slots=True)
class Part:
    """One outcome within one bar."""

    outcome: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One step of a period."""

    step: Step
    x: float
    width: float
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Line:
    """One quantile, as a path with a piece for each step that has one."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Tick:
    """One value of an axis."""

    y: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Times:
    """The quantiles of waiting or running."""

    measure: Measure
    lines: Sequence[Line]
    ticks: Sequence[Tick]


@dataclass(frozen=True, slots=True)
class Charts:
    """Everything that is drawn of a series."""

    series: Series
    highest: int  # of the bars
    bars: Sequence[Bar]
    times: Sequence[Times]  # of what was measured at all
    marks: Sequence[tuple[float, int]]  # x, version


def draw(series: Series) -> Charts:
    """Return what is to be drawn of a series."""
    wide = WIDTH / len(series.steps)
    highest = max(step.total for step in series.steps)
    bars = [_bar(step, n * wide, wide, highest) for n, step in enumerate(series.steps)]
    times = [_times(series, measure, wide) for measure in (Measure.WAIT, Measure.RUN)]
    return Charts(
        series,
        highest,
        bars,
        [each for each in times if each.ticks],
        [(_place(series, mark.at) * wide, mark.version) for mark in series.marks],
    )


def _place(series: Series, at: datetime) -> float:
    """Return how many steps an instant lies behind the start."""
    starts = [step.at for step in series.steps]
    n = max(bisect_right(starts, at) - 1, 0)
    end = starts[n + 1] if n + 1 < len(starts) else starts[n] + series.period.step
    return n + (at - starts[n]) / (end - starts[n])


def _bar(step: Step, x: float, wide: float, highest: int) -> Bar:
    parts, y = [], float(HEIGHT)
    for outcome in OUTCOMES:
        if n := step.n(outcome):
            # A single failure among thousands must still be seen.
            height = max(2.0, (HEIGHT - _TOP) * n / highest)
            y -= height
            parts.append(Part(outcome, round(y, 1), round(height, 1)))
    return Bar(step, round(x + wide * 0.1, 1), round(wide * 0.8, 1), parts)


def _times(series: Series, measure: Measure, wide: float) -> Times:
    found = {
        name: [step.quantile(measure, name) for step in series.steps]
        for name in QUANTILES
    }
    seconds = [each for line in found.values() for each in line if each is not None]
    if not seconds:
        return Times(measure, (), ())
    low, high = _range(min(seconds), max(seconds))
    lines = [Line(name, _path(line, wide, low, high)) for name, line in found.items()]
    between = [each for each in _TICKS if low <= each <= high]
    ticks = [Tick(_height(each, low, high), each) for each in between]
    return Times(measure, lines, ticks)


def _range(low: float, high: float) -> tuple[float, float]:
    """Return the named times around what is shown."""
    below = [each for each in _TICKS if each <= low]
    above = [each for each in _TICKS if each >= high]
    return (below[-1] if below else _TICKS[0]), (above[0] if above else _TICKS[-1])


def _height(seconds: float, low: float, high: float) -> float:
    inside = min(max(seconds, low), high)
    part = (math.log(inside) - math.log(low)) / (math.log(high) - math.log(low) or 1)
    return round(HEIGHT - _TOP - part * (HEIGHT - 2 * _TOP), 1)


def _path(line: Sequence[float | None], wide: float, low: float, high: float) -> str:
    """Return level pieces, joined where two steps follow one another."""
    pieces, is_drawn = [], False
    for n, seconds in enumerate(line):
        if seconds is None:
            is_drawn = False
            continue
        y, x = _height(seconds, low, high), round(n * wide, 1)
        pieces.append(f"{'L' if is_drawn else 'M'}{x} {y}H{round(x + wide, 1)}")
        is_drawn = True
    return "".join(pieces)
