"""How far from its date a time rule acts."""

from __future__ import annotations

from typing import Any

from wtforms import IntegerField, SelectField, StringField
from wtforms.widgets import TimeInput

from dashboard.rules.fields.base import NUMBER, UNIT_CHOICES, FieldGroup, line
from dashboard.rules.fields.what import WhatFields
from tasks.models import OffsetUnit, Rule
from tasks.saying import later


class OffsetFields(FieldGroup):
    """The distance from the date; on the page for ``time.*`` triggers only."""

    offset_value = IntegerField(
        later("How long"),
        invalid_value_message=NUMBER,
        default=24,
        render_kw={"min": 0, "inputmode": "numeric"},
    )
    offset_unit = SelectField(
        later("Unit"), choices=UNIT_CHOICES, default=OffsetUnit.HOURS
    )
    offset_at = StringField(
        later("At this time of day"),
        widget=TimeInput(),
        description=later("Empty: at that of the date."),
    )

    def said(self) -> dict[str, Any]:
        """Return the distance; what is no number counts as 0."""
        return {
            "offset_value": self.offset_value.data or 0,
            "offset_unit": _unit(self.offset_unit.data),
            "offset_at": line(self.offset_at.data) or None,
        }

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return the rule's distance."""
        return {
            "offset_value": rule.offset_value,
            "offset_unit": rule.offset_unit.value,
            "offset_at": rule.offset_at,
        }

    def drop_unasked(self) -> None:
        """Forget a wrong number when the trigger counts from no date."""
        trigger = self.trigger if isinstance(self, WhatFields) else None
        if trigger is None or not trigger.is_time:
            self.offset_value.errors = []


def _unit(word: str | None) -> OffsetUnit:
    return OffsetUnit(word) if word in set(OffsetUnit) else OffsetUnit.HOURS
