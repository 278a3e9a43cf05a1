"""When time rules are due across clock changes, and when they are too late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.automation.lateness import due_at, is_too_late, timing
from tasks.automation.triggers import TRIGGERS
from tasks.models import LatePolicy, OffsetUnit, Reason, Rule

BEFORE, AFTER = "time.before_recording", "time.after_recording"
NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def _rule(trigger: str, value: int, unit: str, **values: Any) -> Rule:
    return Rule(
        trigger_type=trigger, offset_value=value, offset_unit=OffsetUnit(unit), **values
    )


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


#: rule, offset, timezone, reference, due; grouped by what they show
DUE = """
elapsed time takes no notice of clock changes
before 24 hours Europe/Berlin 2026-03-29T12:00+02:00 2026-03-28T10:00Z
after 90 minutes UTC 2026-03-10T12:00Z 2026-03-10T13:30Z

calendar days keep the wall clock
before 1 days Europe/Berlin 2026-03-29T12:00+02:00 2026-03-28T12:00+01:00
after 1 days Europe/Berlin 2026-10-24T12:00+02:00 2026-10-25T12:00+01:00
before 1 days Asia/Kathmandu 2026-03-10T00:15+05:45 2026-03-09T00:15+05:45
before 2 days No/Where 2026-03-10T12:00Z 2026-03-08T12:00Z

a time that does not exist: the first instant after the jump
before 1 days Europe/Berlin 2026-03-30T02:30+02:00 2026-03-29T03:00+02:00
after 1 days America/New_York 2026-03-07T02:30-05:00 2026-03-08T03:00-04:00
after 1 days Pacific/Apia 2011-12-29T10:00-10:00 2011-12-31T00:00+14:00

a time that exists twice: the first of both, but no offset is no move
before 1 days Europe/Berlin 2026-10-26T02:30+01:00 2026-10-25T02:30+02:00
after 1 days America/New_York 2026-10-31T01:30-04:00 2026-11-01T01:30-04:00
before 0 days Europe/Berlin 2026-10-25T02:30+01:00 2026-10-25T02:30+01:00
"""
CASES = [line for line in DUE.splitlines() if line.startswith(("before", "after"))]


@pytest.mark.parametrize("case", CASES)
def test_offsets_are_elapsed_time_or_calendar_days(case: str) -> None:
    when, value, unit, zone, reference, due = case.split()
    rule = _rule(f"time.{when}_recording", int(value), unit)
    assert due_at(rule, _utc(reference), zone) == _utc(due)


@given(
    minutes=st.integers(0, 38 * 365 * 24 * 60),
    days=st.integers(1, 400),
    zone=st.sampled_from(
        ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"]
    ),
)
def test_calendar_days_go_to_one_instant_within_a_day_of_elapsed_time(
    minutes: int, days: int, zone: str
) -> None:
    at = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    due = due_at(_rule(BEFORE, days, "days"), at, zone)
    assert abs((at - due) - timedelta(days=days)) <= timedelta(hours=26)


@pytest.mark.parametrize(
    ("value", "unit", "late", "expected"),
    [
        (24, "hours", timedelta(hours=2), False),
        (24, "hours", timedelta(hours=6), False),
        (24, "hours", timedelta(hours=6, seconds=1), True),
        (1, "hours", timedelta(minutes=15), False),
        (1, "hours", timedelta(minutes=16), True),
        (10, "minutes", timedelta(minutes=5), False),
        (10, "minutes", timedelta(minutes=6), True),
        (3, "minutes", timedelta(minutes=2), False),
        (3, "minutes", timedelta(minutes=3), True),  # it has begun
        (0, "minutes", timedelta(minutes=5), False),
        (0, "minutes", timedelta(minutes=6), True),
    ],
)
def test_a_before_rule_goes_out_while_it_still_helps(
    value: int, unit: str, late: timedelta, *, expected: bool
) -> None:
    rule = _rule(BEFORE, value, unit)
    reference = NOON + timedelta(**{unit: value})
    trigger = TRIGGERS[BEFORE]
    assert is_too_late(rule, trigger, NOON, reference, NOON + late) is expected


@pytest.mark.parametrize(("hours", "expected"), [(24, False), (25, True)])
def test_an_after_rule_goes_out_a_day_late(hours: int, *, expected: bool) -> None:
    rule, late = _rule(AFTER, 1, "hours"), timedelta(hours=hours)
    reference = NOON - timedelta(hours=1)
    assert is_too_late(rule, TRIGGERS[AFTER], NOON, reference, NOON + late) is expected


@pytest.mark.parametrize(
    ("trigger", "policy", "hours", "due", "reason"),
    [
        (BEFORE, "skip", 30, 6, None),
        (BEFORE, "skip", 2, -22, Reason.OFFSET_IN_PAST),
        (BEFORE, "send_now", 2, 0, None),
        (BEFORE, "send_now", -1, -25, Reason.OFFSET_IN_PAST),
        (AFTER, "skip", -30, 0, None),
        (AFTER, "skip", -49, -25, Reason.OFFSET_IN_PAST),
    ],
)
def test_what_is_planned_late_is_skipped_or_runs_at_once(
    trigger: str, policy: str, hours: int, due: int, reason: Reason | None
) -> None:
    rule = _rule(trigger, 24, "hours", late_policy=LatePolicy(policy))
    reference = NOON + timedelta(hours=hours)
    planned = timing(rule, TRIGGERS[trigger], reference, "UTC", NOON)
    assert (planned.due_at, planned.reason) == (NOON + timedelta(hours=due), reason)
