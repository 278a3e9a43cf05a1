"""The filter of the rules' list; it reads the address, so a filtered list is a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Final

from sqlalchemy import ColumnElement
from wtforms import SelectChoice, SelectField

from dashboard.rules.choices import action_choices, trigger_choices
from dashboard.rules.queries import RuleFilter, conditions
from dashboard.rules.scope import Place, RuleScope, scope_choices
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.saying import later, meant

_ANY: Final = SelectChoice("", later("Any"))
_ANY_ACTION: Final = SelectChoice("", later(meant("an action", "Any")))
_ANYWHERE: Final = SelectChoice("", later(meant("a place", "Any")))
_STANDING: Final = {"on": True, "off": False}


class RuleFilterForm(PlainFilter):
    """Which rules to list: a search, and what stands beside it."""

    searched = SEARCHED["rules"]
    former: ClassVar[Mapping[str, str]] = {"text": "name"}
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

    def offer(self, found: Sequence[Place]) -> None:
        """Say which places may be chosen."""
        self.scope.choices = [_ANYWHERE, *scope_choices(found)]

    def wanted(self, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each rule; a field with an error does not count."""
        chosen = RuleFilter(
            scope=RuleScope.of(self._text("scope")),
            trigger_type=self._text("trigger"),
            action=self._text("action"),
            enabled=_STANDING.get(self._text("enabled")),
        )
        return self.conditions(now, [*conditions(chosen)])

    def _text(self, name: str) -> str:
        field = self[name]
        return "" if field.errors else (field.data or "")
