"""Quiet hours on the wall clock of five zones, on the days when clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.automation.quiet import Clocks, opening, quiet_end
from tasks.models import OffsetUnit, QuietPolicy, Rule

#: zone, from-until, instant, when they end there; grouped by what they show
QUIET = """
within a day, and over midnight
UTC 12:00-14:00 2026-03-10T11:59Z -
UTC 12:00-14:00 2026-03-10T12:00Z 2026-03-10T14:00Z
UTC 12:00-14:00 2026-03-10T14:00Z -
UTC 22:00-07:00 2026-03-10T21:59Z -
UTC 22:00-07:00 2026-03-10T22:00Z 2026-03-11T07:00Z
UTC 22:00-07:00 2026-03-11T06:59Z 2026-03-11T07:00Z
UTC 22:00-07:00 2026-03-11T07:00Z -
UTC 00:00-06:00 2026-03-11T00:00Z 2026-03-11T06:00Z
UTC 18:00-00:00 2026-03-11T23:59Z 2026-03-12T00:00Z

in the local time of the recipient
Asia/Kathmandu 22:00-07:00 2026-03-10T16:15Z 2026-03-11T07:00+05:45
Asia/Kathmandu 22:00-07:00 2026-03-10T16:14Z -
America/New_York 22:00-07:00 2026-01-10T03:00Z 2026-01-10T07:00-05:00
Nowhere/Land 22:00-07:00 2026-03-10T22:00Z 2026-03-11T07:00Z

clocks go forward: the night is shorter, an end that is jumped over comes at the jump
Europe/Berlin 22:00-07:00 2026-03-28T22:00+01:00 2026-03-29T07:00+02:00
Europe/Berlin 22:00-02:30 2026-03-29T01:00+01:00 2026-03-29T03:00+02:00
America/New_York 22:00-02:30 2026-03-08T01:00-05:00 2026-03-08T03:00-04:00
Australia/Lord_Howe 22:00-02:15 2026-10-04T01:00+10:30 2026-10-04T02:30+11:00

clocks go back: what exists twice is quiet twice, and each time it ends
Europe/Berlin 22:00-07:00 2026-10-24T22:00+02:00 2026-10-25T07:00+01:00
Europe/Berlin 22:00-02:30 2026-10-25T02:15+02:00 2026-10-25T02:30+02:00
Europe/Berlin 22:00-02:30 2026-10-25T02:45+02:00 -
Europe/Berlin 22:00-02:30 2026-10-25T02:15+01:00 2026-10-25T02:30+01:00
America/New_York 22:00-01:30 2026-11-01T01:15-05:00 2026-11-01T01:30-05:00
Australia/Lord_Howe 22:00-01:45 2026-04-05T01:40+10:30 2026-04-05T01:45+10:30

a whole day is left out: the night before it goes on in the one after
Pacific/Apia 22:00-07:00 2011-12-29T23:00-10:00 2011-12-31T07:00+14:00
"""
CASES = [
    line
    for line in QUIET.splitlines()
    if line.endswith(("Z", "-", ":00", ":45", ":30"))
]
ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
]


def _rule(begin: str, end: str, trigger: str = "booking.confirmed", **v: Any) -> Rule:
    values: dict[str, Any] = {"settings": {}, "offset_unit": OffsetUnit.HOURS, **v}
    return Rule(trigger_type=trigger, quiet_from=begin, quiet_until=end, **values)


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize("case", CASES)
def test_quiet_hours_end_when_the_wall_clock_says(case: str) -> None:
    zone, hours, instant, end = case.split()
    rule = _rule(*hours.split("-"))
    expected = None if end == "-" else _utc(end)
    assert quiet_end(rule, _utc(instant), zone) == expected


def _hour(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


@given(
    minutes=st.integers(0, 38 * 365 * 24 * 60),
    begin=st.integers(0, 1439).map(_hour),
    end=st.integers(0, 1439).map(_hour),
    zone=st.sampled_from(ZONES),
)
def test_quiet_hours_always_end_within_two_days_and_are_over_then(
    minutes: int, begin: str, end: str, zone: str
) -> None:
    rule = _rule(begin, end)
    at = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    over = quiet_end(rule, at, zone) if begin != end else None
    if over is not None:
        assert at < over <= at + timedelta(hours=49)
        assert quiet_end(rule, over, zone) is None


def test_a_rule_without_quiet_hours_is_never_quiet() -> None:
    rule = Rule(trigger_type="booking.confirmed", settings={})
    assert quiet_end(rule, _utc("2026-03-10T03:00Z"), "UTC") is None


@pytest.mark.parametrize(
    ("settings", "zone"),
    [
        ({"recipient": "guest"}, "Asia/Kathmandu"),
        ({"recipient": "host"}, "Europe/Berlin"),
        ({"recipient": "fixed", "address": "a@example.org"}, "Europe/Berlin"),
        ({"url": "https://example.org"}, "Europe/Berlin"),
    ],
)
def test_a_guest_has_a_clock_of_their_own(settings: dict[str, str], zone: str) -> None:
    assert Clocks("Asia/Kathmandu", "Europe/Berlin").of(settings) == zone


_BEFORE = "time.before_recording"


@pytest.mark.parametrize(
    ("trigger", "policy", "reference", "expected"),
    [
        ("booking.confirmed", "wait", None, "2026-03-11T07:00Z"),
        ("booking.confirmed", "skip", None, "2026-03-11T03:00Z"),
        (_BEFORE, "wait", "2026-03-11T09:00Z", "2026-03-11T07:00Z"),
        (_BEFORE, "wait", "2026-03-11T07:00Z", "2026-03-11T03:00Z"),
        ("time.after_recording", "wait", "2026-03-11T02:00Z", "2026-03-11T07:00Z"),
    ],
    ids=["event", "skips", "before", "begun-by-then", "after"],
)
def test_what_can_wait_is_planned_for_the_end_of_the_quiet_hours(
    trigger: str, policy: str, reference: str | None, expected: str
) -> None:
    rule = _rule("22:00", "07:00", trigger, quiet_policy=QuietPolicy(policy))
    date = _utc(reference) if reference else None
    at = opening(rule, _utc("2026-03-11T03:00Z"), Clocks("UTC", "UTC"), date)
    assert at == _utc(expected)
