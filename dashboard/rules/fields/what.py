"""What a rule is called, where it applies, what starts it and what it does."""

from __future__ import annotations

from typing import Any

from wtforms import SelectField, SelectMultipleField, StringField
from wtforms.widgets import CheckboxInput, ListWidget

from dashboard.rules.choices import trigger_choices
from dashboard.rules.fields.base import FieldGroup
from dashboard.rules.scope import SEVERAL, RuleScope
from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.models import Rule
from tasks.operations.rule_fields import NAME_MAX
from tasks.saying import later


class WhatFields(FieldGroup):
    """The choices that the rest of the form adapts to."""

    name = StringField(
        later("Name"), render_kw={"maxlength": NAME_MAX, "autocomplete": "off"}
    )
    scope = SelectField(later("Applies to"), validate_choice=False)
    # Counts when the scope says "several".
    podcasts = SelectMultipleField(
        later("These podcasts"),
        validate_choice=False,  # the engine says it better
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    trigger_type = SelectField(
        later("When"),
        choices=trigger_choices,
        default="booking.confirmed",
        invalid_choice_message=later("Choose what starts the rule."),
    )

    @property
    def trigger(self) -> Trigger | None:
        """The chosen trigger; None when the choice is none of ours."""
        return TRIGGERS.get(self.trigger_type.data or "")

    @property
    def place(self) -> RuleScope | None:
        """Where the rule applies; None when the choice is none of ours."""
        return RuleScope.of(self.scope.data, self.podcasts.data or ())

    @property
    def names_podcasts(self) -> bool:
        """Whether the podcasts are chosen one by one, in boxes."""
        return str(self.scope.data or "").endswith(f"/{SEVERAL}")

    def said(self) -> dict[str, Any]:
        """Return the choices."""
        place = self.place
        return {
            "name": self.name.data or "",
            "podcast_ids": place.podcast_ids if place else None,
            "trigger_type": self.trigger_type.data or "",
        }

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return the rule's choices."""
        ids = rule.podcast_ids
        scope = RuleScope(rule.congregation_id, None if ids is None else tuple(ids))
        return {
            "name": rule.name,
            "scope": str(scope),
            "podcasts": ids or [],
            "trigger_type": rule.trigger_type,
        }
