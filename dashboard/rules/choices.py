"""The options of selects that rules and events share."""

from __future__ import annotations

from typing import Final

from wtforms import SelectChoice

from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS

_GROUPS: Final = {"booking": "Bookings", "episode": "Episodes", "guest": "Guests"}


def trigger_choices() -> list[SelectChoice]:
    """Return the options of a select of triggers, grouped by what they are about."""
    return [
        SelectChoice(
            one.name,
            one.title,
            optgroup="Around a date" if one.is_time else _GROUPS[one.subject],
        )
        for one in TRIGGERS.values()
    ]


def action_choices() -> list[SelectChoice]:
    """Return the options of a select of actions."""
    return [SelectChoice(name, action.title) for name, action in ACTIONS.items()]
