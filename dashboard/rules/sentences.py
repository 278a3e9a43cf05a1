"""A rule in one sentence, as operators say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.models import OffsetUnit, Rule

_RECIPIENTS: Final = {"guest": "the guest", "host": "the host"}
_ONE: Final = {
    OffsetUnit.MINUTES: "minute",
    OffsetUnit.HOURS: "hour",
    OffsetUnit.DAYS: "day",
}


def sentence(rule: Rule) -> str:
    """Return what the rule does.

    >>> sentence(Rule(trigger_type="time.before_recording", offset_value=24,
    ...     offset_unit=OffsetUnit.HOURS, action="email",
    ...     settings={"recipient": "guest"}))
    '24 hours before the recording, e-mail the guest.'
    """
    trigger = TRIGGERS.get(rule.trigger_type)
    if trigger is None:
        return f"On {rule.trigger_type}, {deed(rule.action, rule.settings)}."
    start = when(trigger, rule.offset_value, rule.offset_unit)
    return f"{start}, {deed(rule.action, rule.settings)}."


def when(trigger: Trigger, value: int, unit: OffsetUnit) -> str:
    """Return when a rule acts, beginning with a capital letter.

    >>> when(TRIGGERS["time.after_recording"], 1, OffsetUnit.DAYS)
    '1 day after the recording'
    >>> when(TRIGGERS["booking.confirmed"], 0, OffsetUnit.HOURS)
    'When a booking is confirmed'
    """
    if not trigger.is_time:
        return f"When {trigger.sentence}"
    if value == 0:
        return f"Right {trigger.sentence}"
    name = _ONE[unit] if value == 1 else unit.value
    return f"{value} {name} {trigger.sentence}"


def deed(action: str, settings: Mapping[str, Any]) -> str:
    """Return what a rule does, as the second half of a sentence.

    >>> deed("webhook", {"url": "https://hooks.example.org/a?key=1"})
    'call hooks.example.org'
    """
    if action == "email":
        recipient = str(settings.get("recipient", ""))
        return f"e-mail {_RECIPIENTS.get(recipient) or settings.get('address', '')}"
    if action == "webhook":
        address = str(settings.get("url", ""))
        return f"call {address.partition('://')[2].partition('/')[0] or address}"
    return action
