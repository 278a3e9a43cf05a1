"""How a rule is run, and what it begins with."""

from __future__ import annotations

from typing import Any

from wtforms import BooleanField, IntegerField

from dashboard.rules.fields.base import NUMBER, FieldGroup
from tasks.models import Rule
from tasks.operations.rule_fields import ATTEMPTS_MAX


class RunningFields(FieldGroup):
    """Attempts."""

    max_attempts = IntegerField(
        "Attempts",
        invalid_value_message=NUMBER,
        default=5,
        description=f"1 to {ATTEMPTS_MAX}. How often it is tried before it counts as "
        "failed; the pause between two attempts grows.",
        render_kw={"min": 1, "max": ATTEMPTS_MAX},
    )

    def said(self) -> dict[str, Any]:
        """Return how it is run; what is no number counts as 0, which is refused."""
        return {"max_attempts": self.max_attempts.data or 0}

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return how the rule is run."""
        return {"max_attempts": rule.max_attempts}


class BeginningFields(FieldGroup):
    """What is asked at the saving and kept nowhere."""

    enabled = BooleanField("Switch it on at once", default=True)
    also_coming = BooleanField("Plan it also for what is in the calendar already")
