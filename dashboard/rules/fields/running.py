"""How a rule is run, and what it begins with."""

from __future__ import annotations

from typing import Any, Final

from wtforms import BooleanField, IntegerField
from wtforms.validators import Optional

from dashboard.rules.fields.base import NUMBER, FieldGroup
from tasks.models import Rule
from tasks.operations.rule_limits import (
    ATTEMPTS_MAX,
    RATE_MAX,
    RATE_WINDOW_MAX,
    RETRY_FIRST_MAX,
    RETRY_LONGEST_MAX,
)
from tasks.saying import later

_NAMES: Final = (
    "max_attempts",
    "retry_first_seconds",
    "retry_longest_minutes",
    "rate_limit",
    "rate_window_minutes",
)


class RunningFields(FieldGroup):
    """Attempts, the pauses between them, and how often it acts at most."""

    max_attempts = IntegerField(
        later("Attempts"),
        invalid_value_message=NUMBER,
        default=5,
        description=later(
            "1 to %(max)s. How often it is tried before it counts as failed.",
            max=ATTEMPTS_MAX,
        ),
        render_kw={"min": 1, "max": ATTEMPTS_MAX},
    )
    retry_first_seconds = IntegerField(
        later("First pause, in seconds"),
        invalid_value_message=NUMBER,
        default=30,
        description=later(
            "The longest pause after the first failure; it doubles each time."
        ),
        render_kw={"min": 1, "max": RETRY_FIRST_MAX},
    )
    retry_longest_minutes = IntegerField(
        later("Longest pause, in minutes"),
        invalid_value_message=NUMBER,
        default=360,
        render_kw={"min": 1, "max": RETRY_LONGEST_MAX},
    )
    rate_limit = IntegerField(
        later("At most this often"),
        [Optional()],
        invalid_value_message=NUMBER,
        description=later("Empty: as often as it is asked to."),
        render_kw={"min": 1, "max": RATE_MAX},
    )
    rate_window_minutes = IntegerField(
        later("within this many minutes"),
        invalid_value_message=NUMBER,
        default=60,
        render_kw={"min": 1, "max": RATE_WINDOW_MAX},
    )

    def said(self) -> dict[str, Any]:
        """Return how it is run; what is no number counts as 0, which is refused."""
        limit = self.rate_limit
        return {
            "max_attempts": self.max_attempts.data or 0,
            "retry_first_seconds": self.retry_first_seconds.data or 0,
            "retry_longest_minutes": self.retry_longest_minutes.data or 0,
            "rate_limit": 0 if limit.errors else limit.data,
            "rate_window_minutes": self.rate_window_minutes.data or 0,
        }

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return how the rule is run."""
        return {name: getattr(rule, name) for name in _NAMES}

    def drop_unasked(self) -> None:
        """Forget a wrong window when there is no limit."""
        if self.rate_limit.data is None and not self.rate_limit.errors:
            self.rate_window_minutes.errors = []


class BeginningFields(FieldGroup):
    """What is asked at the saving and kept nowhere."""

    enabled = BooleanField(later("Switch it on at once"), default=True)
    also_coming = BooleanField(
        later("Plan it also for what is in the calendar already")
    )
