"""A rule in one sentence, as operators say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dashboard.rules.step_sentences import after
from tasks.automation import condition_rows
from tasks.automation.actions import START_LANE
from tasks.automation.steps import Step, later_steps
from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.models import LatePolicy, OffsetUnit, QuietPolicy, Rule
from tasks.outbound.services import BY_SCHEME

#: Conditions that take more characters than this are only counted.
CONDITIONS_TOLD: Final = 160
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
    start = (
        when(trigger, rule.offset_value, rule.offset_unit, rule.offset_at)
        if trigger
        else f"On {rule.trigger_type}"
    )
    said = deed(rule.action, rule.settings)
    return f"{start}{only_if(rule.conditions or {})}, {said}{more(rule)}."


def when(trigger: Trigger, value: int, unit: OffsetUnit, at: str | None = None) -> str:
    """Return when a rule acts, beginning with a capital letter.

    >>> when(TRIGGERS["time.after_recording"], 1, OffsetUnit.DAYS)
    '1 day after the recording'
    >>> when(TRIGGERS["time.before_recording"], 2, OffsetUnit.DAYS, "18:00")
    '2 days before the recording at 18:00'
    >>> when(TRIGGERS["booking.confirmed"], 0, OffsetUnit.HOURS)
    'When a booking is confirmed'
    """
    if not trigger.is_time:
        return f"When {trigger.sentence}"
    if value == 0 and at:
        return f"On the day itself at {at}, {trigger.sentence}"
    if value == 0:
        return f"Right {trigger.sentence}"
    name = _ONE[unit] if value == 1 else unit.value
    start = f"{value} {name} {trigger.sentence}"
    return f"{start} at {at}" if at else start


def only_if(wanted: Mapping[str, Any]) -> str:
    """Return a rule's conditions as the middle of its sentence; empty: it has none.

    >>> only_if({"rows": [{"field": "guest.email", "operator": "not_empty"}]})
    ', if guest.email is not empty'
    """
    told = condition_rows.sentence(wanted)
    if len(told) <= CONDITIONS_TOLD:
        return f", if {told}" if told else ""
    return f", if {len(condition_rows.rows_of(wanted))} conditions hold"


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
    if action == "notify":
        target = str(settings.get("target", ""))
        service = BY_SCHEME.get(target.partition("://")[0])
        return f"notify {service.title if service else target}"
    if action == "start_lane":
        lane = str(settings.get("lane", ""))
        return f"start the lane {START_LANE.lanes.get(lane, lane)}"
    return action


def later(rule: Rule) -> list[tuple[str, str, Step]]:
    """Return each later step with when it comes and what it does."""
    return [
        (after(each.delay).capitalize(), deed(each.action, each.settings), each)
        for each in later_steps(rule)
    ]


def more(rule: Rule) -> str:
    """Return what the rule does later, as the end of a sentence; empty: nothing."""
    steps = later_steps(rule)
    if len(steps) > 1:
        return f", then {len(steps)} more steps"
    only = "".join(deed(each.action, each.settings) for each in steps)
    return f", then {after(steps[0].delay)} {only}" if only else ""


def timing(rule: Rule) -> list[str]:
    """Return what the rule does about lateness and quiet hours, one sentence each.

    >>> timing(Rule(trigger_type="guest.responded", quiet_from="22:00",
    ...     quiet_until="07:00", quiet_policy=QuietPolicy.SKIP))
    ['Quiet from 22:00 until 07:00, recipient’s time: what falls into it is skipped.']
    """
    trigger = TRIGGERS.get(rule.trigger_type)
    told = _lateness(rule, trigger) if trigger and trigger.is_time else []
    if rule.quiet_from:
        ends = "is skipped" if rule.quiet_policy == QuietPolicy.SKIP else "waits"
        hours = f"Quiet from {rule.quiet_from} until {rule.quiet_until}"
        told.append(f"{hours}, recipient’s time: what falls into it {ends}.")
    return told


def _lateness(rule: Rule, trigger: Trigger) -> list[str]:
    told = []
    if trigger.direction < 0:
        acts = rule.late_policy == LatePolicy.SEND_NOW
        does = "acts at once, if the date is still ahead" if acts else "does nothing"
        told.append(f"If its time has passed when it learns of a date, it {does}.")
    if rule.late_limit == 0:
        told.append("If it could not act in time, it does nothing.")
    elif rule.late_limit:
        told.append(f"It acts at most {rule.late_limit} minutes late.")
    return told
