"""The form of a rule, made of groups of fields; it adapts to trigger and action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import Field, HiddenField, SelectField

from dashboard.rules.fields.base import FieldGroup, read
from dashboard.rules.fields.conditions import ConditionsFields, is_of_condition
from dashboard.rules.fields.deed import DeedFields
from dashboard.rules.fields.late import LateFields
from dashboard.rules.fields.offset import OffsetFields
from dashboard.rules.fields.quiet import QuietFields
from dashboard.rules.fields.running import BeginningFields, RunningFields
from dashboard.rules.fields.steps import StepsFields, is_of_step
from dashboard.rules.fields.what import WhatFields
from tasks.models import Rule
from tasks.operations.rule_fields import RuleChange, problems_of
from tasks.saying import later, say

#: The groups that say and show something of a rule, in the order of the page.
GROUPS: Final[tuple[type[FieldGroup], ...]] = (
    WhatFields,
    OffsetFields,
    LateFields,
    ConditionsFields,
    QuietFields,
    DeedFields,
    StepsFields,
    RunningFields,
)


class RuleForm(
    WhatFields,
    OffsetFields,
    LateFields,
    ConditionsFields,
    QuietFields,
    DeedFields,
    StepsFields,
    RunningFields,
    BeginningFields,
    FlaskForm,  # type: ignore[misc]  # WTForms has no types
):
    """A rule; which fields count depends on its trigger and its action."""

    # A new rule's id, so that a form sent twice makes one rule.
    rule_id = HiddenField()
    # The version that the operator looked at.
    version = HiddenField()
    sample = SelectField(later("Preview with"), validate_choice=False)

    @property
    def chosen_id(self) -> UUID | None:
        """The id that a new rule is to have; None lets the engine choose."""
        return read(UUID, self.rule_id.data)

    @property
    def seen_version(self) -> int:
        """The version that the operator looked at; 0, which no rule has, if unsaid."""
        return read(int, self.version.data) or 0

    @property
    def composed(self) -> Iterator[Field]:
        """The fields that make the message; they go with the preview's own form."""
        names = ("scope", "trigger_type", "action", "sample")
        yield from (self[name] for name in names)
        yield from self.chosen

    def change(self) -> RuleChange:
        """Return the input in the engine's words."""
        said: dict[str, Any] = {}
        for group in GROUPS:
            said |= group.said(self)
        return RuleChange(**said)

    def show(self, rule: Rule) -> None:
        """Fill the form with a rule that exists."""
        data: dict[str, Any] = {"version": str(rule.version)}
        for group in GROUPS:
            data |= group.shown(rule)
        self.process(data=data)

    def is_good(self) -> bool:
        """Check everything, the engine's rules too, so that all errors show at once."""
        self.validate()
        for group in GROUPS:
            group.drop_unasked(self)
        if self.place is None:
            self.refuse({"scope": say("Choose what the rule applies to.")})
        self.refuse(problems_of(self.change()))
        return not self.errors

    def refuse(self, problems: Mapping[str, str]) -> None:
        """Show each of the engine's sentences at its field, unless one stands there."""
        self.refuse_steps(problems)
        self.refuse_conditions(problems)
        for name, problem in problems.items():
            if is_of_step(name) or is_of_condition(name):
                continue
            field = self[self._field_of(name)]
            if not field.errors:
                field.errors = [problem]

    def _field_of(self, name: str) -> str:
        """Return the field at which a problem of the engine's is shown."""
        if name != "podcast_ids":
            return name
        return "podcasts" if self.names_podcasts else "scope"
