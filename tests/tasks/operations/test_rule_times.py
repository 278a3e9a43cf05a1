"""What a rule may say about time: hour, lateness, quiet hours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tasks.models import LatePolicy, OffsetUnit, QuietPolicy
from tasks.operations.rule_fields import RuleChange, clean, problems_of

EVENT = RuleChange(
    name="Welcome",
    trigger_type="booking.confirmed",
    action="email",
    settings={"recipient": "guest", "subject": "Hello", "text": "Hello", "html": ""},
)
DAYS = replace(
    EVENT,
    trigger_type="time.before_recording",
    offset_value=1,
    offset_unit=OffsetUnit.DAYS,
)
NIGHT: dict[str, Any] = {"quiet_from": "22:00", "quiet_until": "07:00"}
HOURS = ["8:00", "24:00", "08:60", "noon", "08:30:00", "０8:30", "-1:00", " 08:30"]


@pytest.mark.parametrize("hour", HOURS)
@pytest.mark.parametrize("field", ["offset_at", "quiet_from", "quiet_until"])
def test_a_wrong_hour_is_said_at_its_field(field: str, hour: str) -> None:
    problems = problems_of(replace(DAYS, **{**NIGHT, field: hour}))
    assert problems == {field: "Give a time of day from 00:00 to 23:59, such as 08:30."}


@pytest.mark.parametrize("minutes", [-1, 1, 4, 43_201, 10**9])
def test_a_wrong_limit_is_said_with_its_bounds(minutes: int) -> None:
    problems = problems_of(replace(DAYS, late_limit=minutes))
    assert problems["late_limit"].startswith("Choose 5 to 43200 minutes")


@pytest.mark.parametrize("minutes", [None, 0, 5, 43_200])
def test_a_limit_within_its_bounds_is_kept(minutes: int | None) -> None:
    assert clean(replace(DAYS, late_limit=minutes))["late_limit"] == minutes


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"quiet_from": "22:00"}, "quiet_until", "when the quiet hours end"),
        ({"quiet_until": "07:00"}, "quiet_from", "when the quiet hours begin"),
        ({"quiet_from": "07:00", "quiet_until": "07:00"}, "quiet_until", "never end"),
    ],
)
def test_half_and_endless_nights_are_refused(
    values: dict[str, Any], field: str, words: str
) -> None:
    assert words in problems_of(replace(EVENT, **values))[field]


def test_what_does_not_count_has_its_default() -> None:
    said: dict[str, Any] = {
        "offset_at": "nonsense",
        "late_limit": -7,
        "late_policy": LatePolicy.SEND_NOW,
        "quiet_policy": QuietPolicy.SKIP,
    }
    kept = clean(replace(EVENT, **said))
    assert (kept["offset_at"], kept["late_limit"]) == (None, None)
    assert kept["late_policy"] is LatePolicy.SKIP
    assert kept["quiet_policy"] is QuietPolicy.WAIT
    hours = clean(replace(DAYS, offset_unit=OffsetUnit.HOURS, offset_at="18:00"))
    assert hours["offset_at"] is None


def test_what_counts_is_kept() -> None:
    said = {"offset_at": "18:00", "quiet_policy": QuietPolicy.SKIP, **NIGHT}
    kept = clean(replace(DAYS, **said))
    assert {name: kept[name] for name in said} == said
