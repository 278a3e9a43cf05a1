"""When the time of a member who left has come, by the calendar."""

from __future__ import annotations

import calendar
from datetime import date, timedelta
from typing import Final

#: How long before it is done it is announced.
NOTICE: Final = timedelta(days=14)


def add_months(day: date, months: int) -> date:
    """Return the same day ``months`` later, or the last one of a shorter month.

    >>> add_months(date(2025, 8, 31), 6)
    datetime.date(2026, 2, 28)
    >>> add_months(date(2024, 2, 29), 12)
    datetime.date(2025, 2, 28)
    >>> add_months(date(9999, 12, 1), 1) == date.max
    True
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if year > date.max.year:
        return date.max
    if year < date.min.year:
        return date.min
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def last_eligible(today: date, months: int) -> date:
    """Return the latest day of leaving whose time has come on ``today``.

    >>> last_eligible(date(2026, 8, 31), 6)  # who left on 1 March has one day more
    datetime.date(2026, 2, 28)
    >>> last_eligible(date(2026, 2, 28), 6)  # their months end in this short one
    datetime.date(2025, 8, 31)
    """
    day = add_months(today, -months)
    while add_months(following := day + timedelta(days=1), months) <= today:
        day = following
    return day
