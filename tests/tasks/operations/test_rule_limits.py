"""Attempts, pauses and rate limits: what may be said of a rule, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.operations.rule_fields import RuleChange, clean, problems_of
from tests.support.factories import EMAIL_SETTINGS


def change(**values: Any) -> RuleChange:
    return RuleChange(
        "Welcome", "booking.confirmed", "email", dict(EMAIL_SETTINGS), **values
    )


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"max_attempts": 0}, "max_attempts", "1 to 20"),
        ({"max_attempts": 21}, "max_attempts", "1 to 20"),
        ({"retry_first_seconds": 0}, "retry_first_seconds", "1 to 3600 seconds"),
        ({"retry_first_seconds": 3_601}, "retry_first_seconds", "1 to 3600 seconds"),
        ({"retry_longest_minutes": 0}, "retry_longest_minutes", "which are a week"),
        ({"retry_longest_minutes": 10_081}, "retry_longest_minutes", "a week"),
        (
            {"retry_first_seconds": 90, "retry_longest_minutes": 1},
            "retry_longest_minutes",
            "shorter than the first pause",
        ),
        ({"rate_limit": 0}, "rate_limit", "leave it empty"),
        ({"rate_limit": 10_001}, "rate_limit", "leave it empty"),
        ({"rate_limit": 5, "rate_window_minutes": 0}, "rate_window_minutes", "a day"),
        (
            {"rate_limit": 5, "rate_window_minutes": 1_441},
            "rate_window_minutes",
            "a day",
        ),
    ],
)
def test_a_wrong_number_is_told_at_its_field(
    values: dict[str, Any], field: str, words: str
) -> None:
    problems = problems_of(change(**values))
    assert list(problems) == [field]
    assert words in problems[field]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"retry_first_seconds": 60, "retry_longest_minutes": 1},
        {"rate_limit": 1, "rate_window_minutes": 1},
        {"rate_limit": 10_000, "rate_window_minutes": 1_440},
        {"rate_window_minutes": 0},  # counts with a limit only
    ],
)
def test_a_good_limit_is_taken(values: dict[str, Any]) -> None:
    assert problems_of(change(**values)) == {}


def test_without_a_limit_the_window_is_the_usual_one() -> None:
    kept = clean(change(rate_window_minutes=5))
    assert (kept["rate_limit"], kept["rate_window_minutes"]) == (None, 60)
