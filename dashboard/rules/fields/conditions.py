"""What must hold besides the trigger: rows of field, operator and value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from wtforms import (
    FieldList,
    Form,
    FormField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
)

from dashboard.rules.fields.base import FieldGroup, line, read
from dashboard.rules.fields.what import WhatFields
from tasks.automation.condition_checks import CONDITIONS_MAX, VALUE_MAX
from tasks.automation.condition_fields import (
    OPERATORS,
    Kind,
    fields_of,
    is_told,
    kind_of,
    values_of,
)
from tasks.automation.condition_rows import WORDS, Match, Operator, match_of, rows_of
from tasks.automation.triggers import Trigger
from tasks.models import Rule
from tasks.saying import later, say

_HINTS: Final = {Kind.DATE: "2026-03-12 14:00", Kind.NUMBER: "7"}


class ConditionForm(Form):  # type: ignore[misc]  # WTForms has no types
    """One condition; the form around it has the token."""

    field = StringField(later("Field"), render_kw={"list": "condition-fields"})
    operator = SelectField(
        later("Comparison"), validate_choice=False, default=Operator.IS
    )
    value = StringField(later("Value"), render_kw={"maxlength": VALUE_MAX})

    @property
    def is_blank(self) -> bool:
        """Whether nobody has written anything; such a row is not kept."""
        return not (line(self.field.data) or line(self.value.data))

    def adapt(self, trigger: Trigger | None) -> None:
        """Offer the operators that fit the field, and say how its values look."""
        name = line(self.field.data)
        kind = kind_of(name, trigger) if name and trigger else Kind.TOLD
        self.operator.choices = [
            SelectChoice(operator, say(WORDS[operator])) for operator in OPERATORS[kind]
        ]
        values = ", ".join(values_of(name))
        self.value.render_kw = {
            **self.value.render_kw,
            "placeholder": values or _HINTS.get(kind, ""),
        }


class ConditionsFields(FieldGroup):
    """The list of conditions, and how many of them must hold."""

    condition_match = RadioField(
        later("Of these conditions"),
        choices=[
            SelectChoice(Match.ALL, later("all must hold")),
            SelectChoice(Match.ANY, later("one is enough")),
        ],
        default=Match.ALL,
    )
    # One more than the engine takes, so that it can say that there are too many.
    conditions = FieldList(FormField(ConditionForm), max_entries=CONDITIONS_MAX + 1)

    @property
    def has_room_for_conditions(self) -> bool:
        """Whether another row may be added."""
        return len(self.conditions) < CONDITIONS_MAX

    @property
    def condition_rows(self) -> Iterator[tuple[ConditionForm, str]]:
        """The rows as they are shown, each with a word of warning or none."""
        trigger = self._conditions_of
        for entry in self.conditions:
            entry.form.adapt(trigger)
            yield entry.form, _warning(line(entry.form.field.data), trigger)

    @property
    def condition_fields(self) -> tuple[str, ...]:
        """The fields that the trigger offers."""
        trigger = self._conditions_of
        return fields_of(trigger) if trigger else ()

    @property
    def _conditions_of(self) -> Trigger | None:
        return self.trigger if isinstance(self, WhatFields) else None

    @property
    def _written(self) -> list[ConditionForm]:
        return [entry.form for entry in self.conditions if not entry.form.is_blank]

    def said(self) -> dict[str, Any]:
        """Return the conditions, without the rows that are empty."""
        rows = [
            {
                "field": line(row.field.data),
                "operator": row.operator.data or "",
                "value": line(row.value.data),
            }
            for row in self._written
        ]
        match = self.condition_match.data or Match.ALL.value
        return {"conditions": {"match": match, "rows": rows} if rows else {}}

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return the rule's conditions."""
        return {
            "condition_match": match_of(rule.conditions).value,
            "conditions": [
                {"field": row.field, "operator": row.operator, "value": row.value}
                for row in rows_of(rule.conditions)
            ],
        }

    def arrange_conditions(self, wish: str) -> None:
        """Add or remove a row: ``condition-add``, ``condition-remove-0``.

        Anything else changes nothing.
        """
        if wish == "condition-add" and self.has_room_for_conditions:
            self.conditions.append_entry()
        index = read(int, wish.removeprefix("condition-remove-"))
        if index is not None and 0 <= index < len(self.conditions):
            self.conditions.pop_entry(index)

    def refuse_conditions(self, problems: Mapping[str, str]) -> None:
        """Show those of the engine's sentences that are about conditions."""
        errors: list[Any] = []
        for name, problem in problems.items():
            if not is_of_condition(name):
                continue
            _, _, place = name.partition(".")
            # A text is about all of them; what stands at a field is told there.
            errors.append({place: problem} if place else problem)
            if place:
                number, _, part = place.partition(".")
                self._written[int(number)][part].errors = [problem]
        if errors:
            self.conditions.errors = errors


def is_of_condition(name: str) -> bool:
    """Whether the engine's name of a field is that of the conditions."""
    return name.partition(".")[0] == "conditions"


def _warning(name: str, trigger: Trigger | None) -> str:
    if not name or trigger is None or trigger.is_time or not is_told(name, trigger):
        return ""
    return say(
        "%(name)s is no value of ours: only the application that reports the event can "
        "tell it. Where it does not, the condition does not hold.",
        name=name,
    )
