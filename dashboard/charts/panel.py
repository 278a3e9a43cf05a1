"""What the templates of charts need, for any page that includes them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from flask import request

from dashboard.charts import series
from dashboard.charts.drawing import HEIGHT, WIDTH, draw
from dashboard.charts.periods import DAY, HOUR, PERIODS, Period, period_of
from dashboard.filters import duration, shortly
from dashboard.zones import here
from tasks.saying import mark, say
from tasks.saying.formats import dated


def asked_period() -> Period:
    """Return the period that this request's address asks for."""
    return period_of(request.args.get("period"))


def values(found: series.Series) -> dict[str, Any]:
    """Return what ``charts/_panel.html`` reads."""
    return _ALWAYS | {"charts": draw(found), "early": _minutes_early(found)}


def about(seconds: float | None) -> str:
    """Return a time as one number with its unit.

    >>> about(0.0123), about(95), about(None)
    ('12 ms', '1 min', '–')
    """
    if seconds is None:
        return "–"
    return duration(timedelta(seconds=seconds), parts=1)


def step_name(at: datetime, period: Period) -> str:
    """Return how a step is called by the clock of who looks: its day, or its hour."""
    if period.step < DAY:
        return shortly(at)
    # It may begin with the full hour of UTC before midnight.
    return dated(here(at + HOUR) - timedelta(minutes=1), "d MMM")


def _minutes_early(found: series.Series) -> int:
    """Return how many minutes the steps begin before full hours of the clock.

    Only where their names say a full hour.
    """
    is_named_by_clock = found.period.step > HOUR
    return -here(found.steps[-1].at).minute % 60 if is_named_by_clock else 0


def ended(outcome: str, n: int) -> str:
    """Return how much ended in a way, as in ``41 succeeded``."""
    return say(_ENDED[outcome], rows=n)


#: What is said of each of ``series.OUTCOMES``, with its number.
_ENDED: Final = {
    "succeeded": mark("%(rows)s succeeded"),
    "skipped": mark("%(rows)s skipped"),
    "retry": mark("%(rows)s tried again"),
    "failed": mark("%(rows)s failed"),
}
_ALWAYS: Final[dict[str, Any]] = {
    "periods": tuple(PERIODS.values()),
    "outcomes": tuple(series.OUTCOMES),
    "few": series.FEW,
    "width": WIDTH,
    "height": HEIGHT,
    "about": about,
    "ended": ended,
    "step_name": step_name,
}
