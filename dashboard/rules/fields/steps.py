"""What a rule does later: a list of steps, each with the fields of its own action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from wtforms import (
    FieldList,
    Form,
    FormField,
    HiddenField,
    IntegerField,
    SelectField,
)

from dashboard.rules.fields.base import NUMBER, UNIT_CHOICES, FieldGroup, read
from dashboard.rules.fields.deed import DeedFields, shown_deed
from tasks.automation.steps import Step, later_steps
from tasks.models import Rule
from tasks.operations.rule_limits import ATTEMPTS_MAX
from tasks.operations.rule_steps import DELAY_MAX, STEPS_MAX, StepChange
from tasks.saying import later

#: Minutes in each unit, the longest first.
_UNITS: Final[Mapping[str, int]] = {"days": 1440, "hours": 60, "minutes": 1}
#: The engine's name of a field -> ours.
_FIELDS: Final = {"delay": "delay_value"}


class StepForm(DeedFields, Form):  # type: ignore[misc]  # WTForms has no types
    """One later step; the form around it has the token."""

    # Of a step that the rule has; empty for a new one.
    number = HiddenField()
    delay_value = IntegerField(
        later("After"),
        invalid_value_message=NUMBER,
        default=2,
        render_kw={"min": 0, "inputmode": "numeric"},
    )
    delay_unit = SelectField(
        later("Unit"),
        choices=UNIT_CHOICES,
        default="days",
    )
    max_attempts = IntegerField(
        later("Attempts"),
        invalid_value_message=NUMBER,
        default=5,
        render_kw={"min": 1, "max": ATTEMPTS_MAX},
    )

    def change(self) -> StepChange:
        """Return the step in the engine's words; what is no number is refused."""
        value = self.delay_value.data
        minutes = _UNITS.get(self.delay_unit.data, 1)
        return StepChange(
            action=self.action.data or "",
            delay=-1 if value is None else min(value, DELAY_MAX + 1) * minutes,
            settings=self.settings(),
            max_attempts=self.max_attempts.data or 0,
            number=read(int, self.number.data),
        )


class StepsFields(FieldGroup):
    """The list of later steps."""

    steps = FieldList(FormField(StepForm), max_entries=STEPS_MAX)

    @property
    def has_room(self) -> bool:
        """Whether another step may be added."""
        return len(self.steps) < STEPS_MAX

    def said(self) -> dict[str, Any]:
        """Return the steps, in their order."""
        return {"steps": tuple(entry.form.change() for entry in self.steps)}

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return the rule's steps."""
        return {"steps": [_shown(step) for step in later_steps(rule)]}

    def arrange(self, wish: str) -> None:
        """Add, remove or move a step: ``add``, ``remove-0``, ``up-1``, ``down-0``.

        Anything else changes nothing.
        """
        verb, _, place = wish.partition("-")
        if verb == "add" and self.has_room:
            self.steps.append_entry()
        index = read(int, place)
        if index is None or not 0 <= index < len(self.steps):
            return
        if verb == "remove":
            self.steps.pop_entry(index)
        elif verb in {"up", "down"}:
            other = index - 1 if verb == "up" else index + 1
            if 0 <= other < len(self.steps):
                data = self.steps.pop_entry(index).data
                self.steps.insert_entry(other, data)

    def refuse_steps(self, problems: Mapping[str, str]) -> None:
        """Show those of the engine's sentences that are about steps at their fields."""
        for name, problem in problems.items():
            if not is_of_step(name):
                continue
            _, place, field_name = name.split(".", 2)
            form = self.steps[int(place)].form
            field = form[_FIELDS.get(field_name, field_name)]
            if not field.errors:
                field.errors = [problem]
        self.steps.errors = [*self.steps.errors, *_errors(self.steps)]


def is_of_step(name: str) -> bool:
    """Whether the engine's name of a field is that of a step's."""
    return name.startswith("steps.")


def _errors(steps: FieldList) -> Iterator[Any]:
    """Return what WTForms keeps of a list: without it a wrong step looks good."""
    yield from (entry.errors for entry in steps if entry.errors)


def _shown(step: Step) -> dict[str, Any]:
    minutes = step.delay // timedelta(minutes=1)
    fitting = (each for each, size in _UNITS.items() if minutes % size == 0)
    unit = next(fitting) if minutes else "minutes"
    return {
        **shown_deed(step.action, step.settings),
        "number": str(step.number),
        "delay_value": minutes // _UNITS[unit],
        "delay_unit": unit,
        "max_attempts": step.max_attempts,
    }
