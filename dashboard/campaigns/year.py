"""A year of campaigns as a strip: where each one lies, from 0 to 1000."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from babel.dates import get_month_names

from tasks.models import Campaign
from tasks.saying import language

WIDTH: Final = 1_000
#: Bars that lie above one another: campaigns of several congregations.
_ROWS_MAX: Final = 6
_ROW: Final = 20  # height of one, in the strip's own unit


@dataclass(frozen=True, slots=True)
class Bar:
    """One campaign in the strip."""

    campaign: Campaign
    x: int
    width: int
    y: int


@dataclass(frozen=True, slots=True)
class Year:
    """The strip of one year."""

    number: int
    bars: Sequence[Bar]
    today: int | None  # None: another year
    height: int


def months() -> Sequence[str]:
    """Return the twelve months, short, in the language that is set."""
    names = get_month_names("abbreviated", "stand-alone", language.get())
    return [names[number] for number in range(1, 13)]


def strip(number: int, campaigns: Sequence[Campaign], today: date) -> Year:
    """Return the strip of a year.

    Args:
        campaigns: those with a day in the year.
    """
    first = date(number, 1, 1)
    days = (date(number, 12, 31) - first).days + 1

    def at(day: date) -> int:
        return round(max(0, min(days, (day - first).days)) * WIDTH / days)

    rows: dict[object, int] = {}
    bars = []
    for each in campaigns:
        row = rows.setdefault(each.congregation_id, len(rows)) % _ROWS_MAX
        x, end = at(each.starts_on), at(each.ends_on + timedelta(days=1))
        bars.append(Bar(each, x, max(4, end - x), row * _ROW + 4))
    n_rows = max(1, min(len(rows), _ROWS_MAX))
    here = at(today) if today.year == number else None
    return Year(number, bars, here, n_rows * _ROW + 4)
