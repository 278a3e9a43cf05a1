"""The options of selects that rules and events share."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Final

from wtforms import SelectChoice

from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.saying import mark, say

#: Sections of values after the subject's own and the guest's, most wanted first.
_NEAREST: Final = ("booking_link", "podcast", "episode", "congregation")
_GROUPS: Final = {
    "booking": mark("Bookings"),
    "episode": mark("Episodes"),
    "guest": mark("Guests"),
    "contact": mark("Outreach"),
    "work": mark("Back office"),
}
#: What the sections of values are called.
_SECTIONS: Final = {
    "booking": mark("Booking"),
    "booking_link": mark("Booking link"),
    "campaign": mark("Campaign"),
    "congregation": mark("Congregation"),
    "contact": mark("Contact"),
    "document": mark("Document"),
    "endpoint": mark("Endpoint"),
    "engagement": mark("Engagement"),
    "episode": mark("Episode"),
    "guest": mark("Guest"),
    "member": mark("Member"),
    "notification": mark("Notification"),
    "podcast": mark("Podcast"),
    "sync": mark("Sync"),
    "transfer": mark("Transfer"),
}


def trigger_choices() -> list[SelectChoice]:
    """Return the options of a select of triggers, grouped by what they are about."""
    return [
        SelectChoice(
            one.name,
            say(one.title),
            optgroup=say("Around a date") if one.is_time else say(_GROUPS[one.subject]),
        )
        for one in TRIGGERS.values()
    ]


def action_choices() -> list[SelectChoice]:
    """Return the options of a select of actions."""
    return [SelectChoice(name, say(action.title)) for name, action in ACTIONS.items()]


def section_title(section: str) -> str:
    """Return what a section of values is called.

    >>> section_title("booking_link")
    'Booking link'
    """
    return say(_SECTIONS.get(section, section.replace("_", " ").capitalize()))


def values_of(trigger: Trigger) -> Mapping[str, list[str]]:
    """Return what messages of a trigger may use, what it is about first.

    >>> list(values_of(TRIGGERS["guest.responded"]))
    ['guest', 'podcast', 'episode', 'congregation']
    """
    grouped = groupby(trigger.variables, key=lambda name: name.partition(".")[0])
    found = {section: list(names) for section, names in grouped}
    order = dict.fromkeys([trigger.subject, "guest", *_NEAREST, *found])
    return {section: found[section] for section in order if section in found}
