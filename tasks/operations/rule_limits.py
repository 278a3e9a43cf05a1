"""How often a rule tries, and how often it acts at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tasks.saying import say

if TYPE_CHECKING:
    from tasks.operations.rule_fields import RuleChange

ATTEMPTS_MAX: Final = 20
RETRY_FIRST_MAX: Final = 3_600  # seconds
RETRY_LONGEST_MAX: Final = 10_080  # minutes: a week
RATE_MAX: Final = 10_000
RATE_WINDOW_MAX: Final = 1_440  # minutes: a day


def clean_limits(change: RuleChange) -> dict[str, Any]:
    """Return the columns; without a limit its window is the usual one."""
    has_limit = change.rate_limit is not None
    return {
        "max_attempts": change.max_attempts,
        "retry_first_seconds": change.retry_first_seconds,
        "retry_longest_minutes": change.retry_longest_minutes,
        "rate_limit": change.rate_limit,
        "rate_window_minutes": change.rate_window_minutes if has_limit else 60,
    }


def problems_of_limits(change: RuleChange) -> dict[str, str]:
    """Return what is wrong: field -> sentence; empty means good."""
    problems: dict[str, str] = {}
    if not 1 <= change.max_attempts <= ATTEMPTS_MAX:
        problems["max_attempts"] = say(
            "Choose 1 to %(max)s attempts.", max=ATTEMPTS_MAX
        )
    if not 1 <= change.retry_first_seconds <= RETRY_FIRST_MAX:
        problems["retry_first_seconds"] = say(
            "Choose 1 to %(max)s seconds.", max=str(RETRY_FIRST_MAX)
        )
    longest = change.retry_longest_minutes
    if not 1 <= longest <= RETRY_LONGEST_MAX:
        problems["retry_longest_minutes"] = say(
            "Choose 1 to %(max)s minutes, which are a week.", max=str(RETRY_LONGEST_MAX)
        )
    elif longest * 60 < change.retry_first_seconds <= RETRY_FIRST_MAX:
        problems["retry_longest_minutes"] = say("This is shorter than the first pause.")
    return problems | _problems_of_rate(change)


def _problems_of_rate(change: RuleChange) -> dict[str, str]:
    if change.rate_limit is None:
        return {}
    problems: dict[str, str] = {}
    if not 1 <= change.rate_limit <= RATE_MAX:
        problems["rate_limit"] = say(
            "Choose 1 to %(max)s, or leave it empty.", max=str(RATE_MAX)
        )
    if not 1 <= change.rate_window_minutes <= RATE_WINDOW_MAX:
        problems["rate_window_minutes"] = say(
            "Choose 1 to %(max)s minutes, which are a day.", max=str(RATE_WINDOW_MAX)
        )
    return problems
