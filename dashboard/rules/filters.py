"""The filter of the rules' list; it reads the address, so a filtered list is a link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from werkzeug.datastructures import MultiDict
from wtforms import Form, SearchField, SelectChoice, SelectField
from wtforms.validators import Length

from dashboard.filter_fields import clean
from dashboard.rules.choices import action_choices, trigger_choices
from dashboard.rules.queries import RuleFilter
from dashboard.rules.scope import Place, RuleScope, scope_choices
from tasks.saying import later, meant

_ANY: Final = SelectChoice("", later("Any"))
_ANY_ACTION: Final = SelectChoice("", later(meant("an action", "Any")))
_ANYWHERE: Final = SelectChoice("", later(meant("a place", "Any")))
_STANDING: Final = {"on": True, "off": False}


class RuleFilterForm(Form):  # type: ignore[misc]  # WTForms has no types
    """Which rules to list; every field may be empty."""

    text = SearchField(
        later("Name"), [Length(max=120)], filters=[clean], render_kw={"maxlength": 120}
    )
    scope = SelectField(later("Applies to"), validate_choice=False)
    trigger = SelectField(
        later("When"), choices=lambda: [_ANY, *trigger_choices()], default=""
    )
    action = SelectField(
        later("Does"), choices=lambda: [_ANY_ACTION, *action_choices()], default=""
    )
    enabled = SelectField(
        later("State"),
        choices=[
            _ANY,
            SelectChoice("on", later("Enabled")),
            SelectChoice("off", later("Disabled")),
        ],
        default="",
    )

    @classmethod
    def of(cls, args: MultiDict[str, str], found: Sequence[Place]) -> RuleFilterForm:
        """Return the form filled from an address; what is wrong has its errors."""
        form = cls(args)
        form.scope.choices = [_ANYWHERE, *scope_choices(found)]
        form.validate()
        return form

    def wanted(self) -> RuleFilter:
        """Return what is asked for; a field with an error does not count."""
        return RuleFilter(
            scope=RuleScope.of(self._text("scope")),
            trigger_type=self._text("trigger"),
            action=self._text("action"),
            enabled=_STANDING.get(self._text("enabled")),
            text=self._text("text"),
        )

    def _text(self, name: str) -> str:
        field = self[name]
        return "" if field.errors else (field.data or "")
