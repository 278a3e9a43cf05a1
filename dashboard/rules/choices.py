"""The options of selects that rules and events share."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Final

from wtforms import SelectChoice

from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS, Trigger

#: Sections of values after the subject's own and the guest's, most wanted first.
_NEAREST: Final = ("booking_link", "podcast", "episode", "congregation")
_GROUPS: Final = {
    "booking": "Bookings",
    "episode": "Episodes",
    "guest": "Guests",
    "contact": "Outreach",
    "work": "Back office",
}


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


def values_of(trigger: Trigger) -> Mapping[str, list[str]]:
    """Return what messages of a trigger may use, what it is about first.

    >>> list(values_of(TRIGGERS["guest.responded"]))
    ['guest', 'podcast', 'episode', 'congregation']
    """
    grouped = groupby(trigger.variables, key=lambda name: name.partition(".")[0])
    found = {section: list(names) for section, names in grouped}
    order = dict.fromkeys([trigger.subject, "guest", *_NEAREST, *found])
    return {section: found[section] for section in order if section in found}
