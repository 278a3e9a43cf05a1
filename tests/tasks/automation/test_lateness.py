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
before 1 days Australia/Lord_Howe 2026-04-05T12:00+10:30 2026-04-04T12:00+11:00
before 1 days Asia/Kathmandu 2026-03-10T00:15+05:45 2026-03-09T00:15+05:45
before 2 days No/Where 2026-03-10T12:00Z 2026-03-08T12:00Z

a time that does not exist: the first instant after the jump
before 1 days Europe/Berlin 2026-03-30T02:30+02:00 2026-03-29T03:00+02:00
after 1 days America/New_York 2026-03-07T02:30-05:00 2026-03-08T03:00-04:00
after 1 days Australia/Lord_Howe 2026-10-03T02:10+10:30 2026-10-04T02:30+11:00
after 1 days Pacific/Apia 2011-12-29T10:00-10:00 2011-12-31T00:00+14:00

a time that exists twice: the first of both, but no offset is no move
before 1 days Europe/Berlin 2026-10-26T02:30+01:00 2026-10-25T02:30+02:00
after 1 days America/New_York 2026-10-31T01:30-04:00 2026-11-01T01:30-04:00
before 1 days Australia/Lord_Howe 2026-04-06T01:45+10:30 2026-04-05T01:45+11:00
before 0 days Europe/Berlin 2026-10-25T02:30+01:00 2026-10-25T02:30+01:00

a time of day of the rule's own, on the local day of the date
before 1@18:00 days Europe/Berlin 2026-03-30T00:30+02:00 2026-03-29T18:00+02:00
before 2@18:00 days Asia/Kathmandu 2026-03-10T20:00Z 2026-03-09T18:00+05:45
before 0@08:00 days America/New_York 2026-07-01T20:00-04:00 2026-07-01T08:00-04:00
after 1@09:00 days America/New_York 2026-03-07T23:30-05:00 2026-03-08T09:00-04:00
before 1@02:30 days Europe/Berlin 2026-03-30T12:00+02:00 2026-03-29T03:00+02:00
after 1@02:30 days Europe/Berlin 2026-10-24T12:00+02:00 2026-10-25T02:30+02:00
after 1@02:10 days Australia/Lord_Howe 2026-10-03T12:00+10:30 2026-10-04T02:30+11:00
before 1@12:00 days Pacific/Apia 2011-12-31T12:00+14:00 2011-12-31T00:00+14:00
"""
CASES = [line for line in DUE.splitlines() if line.startswith(("before", "after"))]


@pytest.mark.parametrize("case", CASES)
def test_offsets_are_elapsed_time_or_calendar_days(case: str) -> None:
    when, value, unit, zone, reference, due = case.split()
    days, _, at = value.partition("@")
    rule = _rule(f"time.{when}_recording", int(days), unit, offset_at=at or None)
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


@pytest.mark.parametrize(
    ("trigger", "limit", "minutes", "expected"),
    [
        (BEFORE, 90, 90, False),
        (BEFORE, 90, 91, True),
        (BEFORE, 0, 5, False),  # a worker that restarts is no reason to miss it
        (BEFORE, 0, 6, True),
        (BEFORE, 3_000, 24 * 60, True),  # it has begun
        (BEFORE, 3_000, 24 * 60 - 1, False),
        (AFTER, 90, 90, False),
        (AFTER, 90, 91, True),
        (AFTER, 3_000, 2_999, False),
    ],
)
def test_a_rule_may_have_a_limit_of_its_own(
    trigger: str, limit: int, minutes: int, *, expected: bool
) -> None:
    rule = _rule(trigger, 24, "hours", late_limit=limit)
    reference = NOON + timedelta(hours=-24 if trigger == AFTER else 24)
    now = NOON + timedelta(minutes=minutes)
    assert is_too_late(rule, TRIGGERS[trigger], NOON, reference, now) is expected


@pytest.mark.parametrize(
    ("trigger", "at", "reason"),
    [
        (BEFORE, "18:00", None),
        (BEFORE, "20:00", None),
        (BEFORE, "20:01", Reason.WRONG_SIDE),
        (AFTER, "22:00", None),
        (AFTER, "18:00", Reason.WRONG_SIDE),
    ],
)
def test_an_hour_of_the_day_itself_may_lie_on_the_wrong_side_of_the_date(
    trigger: str, at: str, reason: Reason | None
) -> None:
    rule = _rule(trigger, 0, "days", offset_at=at, late_policy=LatePolicy.SEND_NOW)
    date = _utc("2026-03-10T20:00Z")
    assert timing(rule, TRIGGERS[trigger], date, "UTC", NOON).reason is reason


def test_an_after_rule_that_learns_too_late_has_its_own_limit_as_well() -> None:
    rule = _rule(AFTER, 1, "hours", late_limit=30)
    soon, late = NOON - timedelta(minutes=90), NOON - timedelta(minutes=91)
    assert timing(rule, TRIGGERS[AFTER], soon, "UTC", NOON).due_at == NOON
    refused = timing(rule, TRIGGERS[AFTER], late, "UTC", NOON)
    assert refused.reason is Reason.OFFSET_IN_PAST
