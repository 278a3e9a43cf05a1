"""When somebody's months are over, by the calendar."""

from __future__ import annotations

import doctest
from datetime import date, timedelta

import pytest

from tasks.congregation.retention import candidates, months
from tasks.congregation.retention.months import add_months, last_eligible


def test_its_examples_hold() -> None:
    assert doctest.testmod(months).failed == 0


@pytest.mark.parametrize("number", [1, 3, 6, 12, 24, 120])
def test_the_last_eligible_day_agrees_with_counting_forwards(number: int) -> None:
    today = date(2024, 1, 1)  # two years with a 29 February, and every end of a month
    while today < date(2026, 1, 2):
        day = last_eligible(today, number)
        assert add_months(day, number) <= today
        assert add_months(day + timedelta(days=1), number) > today
        today += timedelta(days=1)


def test_a_hold_moves_the_day_and_the_end_of_time_is_no_error() -> None:
    left = date(2025, 8, 31)
    assert candidates.due_on(left, None, 6) == date(2026, 2, 28)
    assert candidates.due_on(left, date(2026, 2, 27), 6) == date(2026, 2, 28)
    assert candidates.due_on(left, date(2026, 2, 28), 6) == date(2026, 3, 1)
    assert candidates.due_on(left, date.max, 6) == date.max
    assert candidates.due_on(date.max, None, 6) == date.max
