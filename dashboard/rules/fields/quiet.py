"""The hours in which a rule keeps silent."""

from __future__ import annotations

from typing import Any

from wtforms import RadioField, SelectChoice, StringField
from wtforms.widgets import TimeInput

from dashboard.rules.fields.base import FieldGroup, line
from tasks.models import QuietPolicy, Rule
from tasks.saying import later


class QuietFields(FieldGroup):
    """Quiet hours, for any trigger."""

    quiet_from = StringField(later("Quiet from"), widget=TimeInput())
    quiet_until = StringField(later("Quiet until"), widget=TimeInput())
    quiet_policy = RadioField(
        later("What falls into the quiet hours"),
        choices=[
            SelectChoice(QuietPolicy.WAIT, later("Waits until they end")),
            SelectChoice(QuietPolicy.SKIP, later("Is skipped")),
        ],
        default=QuietPolicy.WAIT,
    )

    def said(self) -> dict[str, Any]:
        """Return the hours; an empty field says that there are none."""
        word = self.quiet_policy.data
        is_known = word in set(QuietPolicy)
        return {
            "quiet_from": line(self.quiet_from.data) or None,
            "quiet_until": line(self.quiet_until.data) or None,
            "quiet_policy": QuietPolicy(word) if is_known else QuietPolicy.WAIT,
        }

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return the rule's hours."""
        return {
            "quiet_from": rule.quiet_from,
            "quiet_until": rule.quiet_until,
            "quiet_policy": rule.quiet_policy.value,
        }
