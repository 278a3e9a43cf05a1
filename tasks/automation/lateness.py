"""When a time rule is due, and when it is too late to be of help."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.automation.zones import first_zone, instant_of
from tasks.models.reason import Reason
from tasks.models.rule import LatePolicy, OffsetUnit, Rule

#: A before-rule may go out this share of its offset late …
LATE_SHARE: Final = 0.25
#: … or this long, whichever is more; but never after what it announces.
LATE_MIN: Final = timedelta(minutes=5)
#: An after-rule may go out this late.
LATE_AFTER: Final = timedelta(hours=24)


def due_at(rule: Rule, reference_at: datetime, timezone: str) -> datetime:
    """Return the instant at which a time rule is due, in UTC.

    Minutes and hours are elapsed time; days keep the wall clock of ``timezone``, or
    go to the rule's own time of day there.
    """
    direction = TRIGGERS[rule.trigger_type].direction
    amount = direction * rule.offset_value
    in_days = rule.offset_unit == OffsetUnit.DAYS
    if in_days and (amount or rule.offset_at):
        zone = ZoneInfo(first_zone(timezone))
        wall = reference_at.astimezone(zone).replace(tzinfo=None)
        wall += timedelta(days=amount)
        if rule.offset_at:
            wall = datetime.combine(wall, time.fromisoformat(rule.offset_at))
        return instant_of(wall, zone)
    return reference_at + timedelta(**{str(rule.offset_unit): amount})


def is_too_late(
    rule: Rule,
    trigger: Trigger,
    due_at: datetime,
    reference_at: datetime,
    now: datetime,
) -> bool:
    """Return whether a time rule that is due since ``due_at`` has lost its sense.

    A reminder of 24 hours may go out 6 hours late, one of an hour 15 minutes, unless
    the rule has a limit of its own.  None goes out when what it announces has begun,
    save one that is due at that instant.
    """
    if trigger.direction < 0 and due_at < reference_at <= now:
        return True
    return now > due_at + _limit(rule, trigger, reference_at - due_at)


def _limit(rule: Rule, trigger: Trigger, distance: timedelta) -> timedelta:
    """Return how late a rule may act whose moment lies ``distance`` before its date."""
    if rule.late_limit is not None:
        return max(LATE_MIN, timedelta(minutes=rule.late_limit))
    if trigger.direction >= 0:
        return LATE_AFTER
    return max(LATE_MIN, distance * LATE_SHARE)


@dataclass(frozen=True, slots=True)
class Timing:
    """When a job that is planned now is to run, or why it is not to run."""

    due_at: datetime
    reason: Reason | None = None  # None: it is to run


def timing(
    rule: Rule, trigger: Trigger, reference_at: datetime, timezone: str, now: datetime
) -> Timing:
    """Return what becomes of a time rule that is planned at ``now``.

    One whose instant has passed runs at once if it still helps: an after-rule within
    its limit, a before-rule that says "send now" while the event is still ahead.
    """
    due = due_at(rule, reference_at, timezone)
    if (due - reference_at) * trigger.direction < timedelta(0):
        return Timing(due, Reason.WRONG_SIDE)
    if due >= now:
        return Timing(due)
    if trigger.direction < 0:
        helps = rule.late_policy == LatePolicy.SEND_NOW and now < reference_at
    else:
        helps = not is_too_late(rule, trigger, due, reference_at, now)
    return Timing(now) if helps else Timing(due, Reason.OFFSET_IN_PAST)
