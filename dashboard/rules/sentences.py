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
from tasks.saying import say, say_many

#: Conditions that take more characters than this are only counted.
CONDITIONS_TOLD: Final = 160


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
        else say("On %(trigger)s", trigger=rule.trigger_type)
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
        return say("When %(happens)s", happens=say(trigger.sentence))
    side = say(trigger.sentence)  # "before the recording"
    if value == 0 and at:
        return say("On the day itself at %(at)s, %(side)s", at=at, side=side)
    if value == 0:
        return say("Right %(side)s", side=side)
    start = f"{_length(value, unit)} {side}"
    return say("%(start)s at %(at)s", start=start, at=at) if at else start


def _length(value: int, unit: OffsetUnit) -> str:
    n = str(value)
    match unit:
        case OffsetUnit.MINUTES:
            return say_many(value, "%(count)s minute", "%(count)s minutes", count=n)
        case OffsetUnit.HOURS:
            return say_many(value, "%(count)s hour", "%(count)s hours", count=n)
        case OffsetUnit.DAYS:
            return say_many(value, "%(count)s day", "%(count)s days", count=n)


def only_if(wanted: Mapping[str, Any]) -> str:
    """Return a rule's conditions as the middle of its sentence; empty: it has none.

    >>> only_if({"rows": [{"field": "guest.email", "operator": "not_empty"}]})
    ', if guest.email is not empty'
    """
    told = condition_rows.sentence(wanted)
    if len(told) <= CONDITIONS_TOLD:
        return say(", if %(conditions)s", conditions=told) if told else ""
    return say(", if %(n)s conditions hold", n=len(condition_rows.rows_of(wanted)))


def deed(action: str, settings: Mapping[str, Any]) -> str:
    """Return what a rule does, as the second half of a sentence.

    >>> deed("webhook", {"url": "https://hooks.example.org/a?key=1"})
    'call hooks.example.org'
    """
    if action == "email":
        return _mails(settings)
    if action == "webhook":
        address = str(settings.get("url", ""))
        host = address.partition("://")[2].partition("/")[0]
        return say("call %(host)s", host=host or address)
    if action == "notify":
        target = str(settings.get("target", ""))
        service = BY_SCHEME.get(target.partition("://")[0])
        return say("notify %(where)s", where=say(service.title) if service else target)
    if action == "start_lane":
        lane = str(settings.get("lane", ""))
        return say(
            "start the lane %(lane)s", lane=say(START_LANE.lanes.get(lane, lane))
        )
    return action


def _mails(settings: Mapping[str, Any]) -> str:
    match str(settings.get("recipient", "")):
        case "guest":
            return say("e-mail the guest")
        case "host":
            return say("e-mail the host")
        case _:
            return say("e-mail %(address)s", address=settings.get("address", ""))


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
        return say(", then %(n)s more steps", n=len(steps))
    if not steps:
        return ""
    does = deed(steps[0].action, steps[0].settings)
    return say(", then %(when)s %(does)s", when=after(steps[0].delay), does=does)


def timing(rule: Rule) -> list[str]:
    """Return what the rule does about lateness and quiet hours, one sentence each.

    >>> timing(Rule(trigger_type="guest.responded", quiet_from="22:00",
    ...     quiet_until="07:00", quiet_policy=QuietPolicy.SKIP))
    ['Quiet from 22:00 until 07:00, recipient’s time: what falls into it is skipped.']
    """
    trigger = TRIGGERS.get(rule.trigger_type)
    told = _lateness(rule, trigger) if trigger and trigger.is_time else []
    if rule.quiet_from:
        told.append(_quiet(rule))
    return told


def _quiet(rule: Rule) -> str:
    start, end = rule.quiet_from, rule.quiet_until
    if rule.quiet_policy == QuietPolicy.SKIP:
        return say(
            "Quiet from %(start)s until %(end)s, recipient’s time: what falls into it "
            "is skipped.",
            start=start,
            end=end,
        )
    return say(
        "Quiet from %(start)s until %(end)s, recipient’s time: what falls into it "
        "waits.",
        start=start,
        end=end,
    )


def _lateness(rule: Rule, trigger: Trigger) -> list[str]:
    told = []
    if trigger.direction < 0:
        told.append(
            say(
                "If its time has passed when it learns of a date, it acts at once, if "
                "the date is still ahead."
            )
            if rule.late_policy == LatePolicy.SEND_NOW
            else say(
                "If its time has passed when it learns of a date, it does nothing."
            )
        )
    if rule.late_limit == 0:
        told.append(say("If it could not act in time, it does nothing."))
    elif rule.late_limit:
        most = str(rule.late_limit)
        told.append(say("It acts at most %(n)s minutes late.", n=most))
    return told
