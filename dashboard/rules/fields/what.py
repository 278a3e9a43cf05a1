"""What a rule is called, where it applies, what starts it and what it does."""

from __future__ import annotations

from typing import Any

from wtforms import SelectField, StringField

from dashboard.rules.choices import action_choices, trigger_choices
from dashboard.rules.fields.base import FieldGroup
from dashboard.rules.scope import RuleScope
from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.models import Rule
from tasks.operations.rule_fields import NAME_MAX


class WhatFields(FieldGroup):
    """The choices that the rest of the form adapts to."""

    name = StringField("Name", render_kw={"maxlength": NAME_MAX, "autocomplete": "off"})
    scope = SelectField("Applies to", validate_choice=False)
    trigger_type = SelectField(
        "When",
        choices=trigger_choices(),
        default="booking.confirmed",
        invalid_choice_message="Choose what starts the rule.",
    )
    action = SelectField("Do this", choices=action_choices(), default="email")

    @property
    def trigger(self) -> Trigger | None:
        """The chosen trigger; None when the choice is none of ours."""
        return TRIGGERS.get(self.trigger_type.data or "")

    @property
    def place(self) -> RuleScope | None:
        """Where the rule applies; None when the choice is none of ours."""
        return RuleScope.of(self.scope.data)

    def said(self) -> dict[str, Any]:
        """Return the choices."""
        place = self.place
        return {
            "name": self.name.data or "",
            "podcast_id": place.podcast_id if place else None,
            "trigger_type": self.trigger_type.data or "",
            "action": self.action.data or "",
        }

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return the rule's choices."""
        return {
            "name": rule.name,
            "scope": str(RuleScope(rule.congregation_id, rule.podcast_id)),
            "trigger_type": rule.trigger_type,
            "action": rule.action,
        }
