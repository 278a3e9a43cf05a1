"""What a rule, or one of its steps, does: the fields of every action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from wtforms import Field, SelectField

from dashboard.rules.choices import action_choices
from dashboard.rules.fields.base import ActionFields
from dashboard.rules.fields.email import EmailFields
from dashboard.rules.fields.notify import NotifyFields
from dashboard.rules.fields.start_lane import StartLaneFields
from dashboard.rules.fields.webhook import WebhookFields
from tasks.models import Rule
from tasks.saying import later

#: Action -> the group of its settings; the partial is ``_fields_<action>.html``.
ACTION_GROUPS: Final[Mapping[str, type[ActionFields]]] = {
    "email": EmailFields,
    "webhook": WebhookFields,
    "notify": NotifyFields,
    "start_lane": StartLaneFields,
}


class DeedFields(EmailFields, WebhookFields, NotifyFields, StartLaneFields):
    """The action, and the fields of all actions, of which the chosen one's count."""

    action = SelectField(later("Do this"), choices=action_choices, default="email")

    @property
    def chosen(self) -> Iterator[Field]:
        """The fields of the chosen action."""
        if group := ACTION_GROUPS.get(self.action.data or ""):
            yield from (getattr(self, name) for name in group.names)

    @property
    def kept(self) -> Iterator[Field]:
        """The fields of the actions that are not chosen: hidden, in case one is."""
        for action, group in ACTION_GROUPS.items():
            if action != self.action.data:
                yield from (getattr(self, name) for name in group.names)

    def said(self) -> dict[str, Any]:
        """Return the action and its settings."""
        return {"action": self.action.data or "", "settings": self.settings()}

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return the rule's action and its settings."""
        return shown_deed(rule.action, rule.settings)

    def settings(self) -> dict[str, Any]:
        """Return the chosen action's settings."""
        group = ACTION_GROUPS.get(self.action.data or "")
        return group.settings(self) if group else {}


def shown_deed(action: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the fields show of an action; what has no field is left out."""
    group = ACTION_GROUPS.get(action, ActionFields)
    kept = {name: settings[name] for name in group.names if name in settings}
    return {**group.unsaid, **kept, "action": action}
