"""When a time rule is due, and when it is too late to be of help."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
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

    Minutes and hours are elapsed time; days keep the wall clock of ``timezone``.
    """
    direction = TRIGGERS[rule.trigger_type].direction
    amount = direction * rule.offset_value
    if rule.offset_unit == OffsetUnit.DAYS and amount:
        zone = ZoneInfo(first_zone(timezone))
        wall = reference_at.astimezone(zone).replace(tzinfo=None)
        return instant_of(wall + timedelta(days=amount), zone)
    return reference_at + timedelta(**{str(rule.offset_unit): amount})


def is_too_late(
    rule: Rule,
    trigger: Trigger,
    due_at: datetime,
    reference_at: datetime,
    now: datetime,
) -> bool:
    """Return whether a time rule that is due since ``due_at`` has lost its sense.

    A reminder of 24 hours may go out 6 hours late, one of an hour 15 minutes; none
    goes out when what it announces has begun, save one that is due at that instant.
    """
    if trigger.direction >= 0:
        return now > due_at + LATE_AFTER
    if rule.offset_value == 0:
        return now > due_at + LATE_MIN
    share = (reference_at - due_at) * LATE_SHARE
    return now >= reference_at or now > due_at + max(LATE_MIN, share)


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
    24 hours, a before-rule that says "send now" while the event is still ahead.
    """
    due = due_at(rule, reference_at, timezone)
    if due >= now:
        return Timing(due)
    if trigger.direction < 0:
        helps = rule.late_policy == LatePolicy.SEND_NOW and now < reference_at
    else:
        helps = now <= due + LATE_AFTER
    return Timing(now) if helps else Timing(due, Reason.OFFSET_IN_PAST)
