from __future__ import annotations

from typing import Any

import pytest

from tasks.automation.actions.base import CannotCompose
from tests.support.rendering import render_text

BERLIN = {
    "booking": {"start_time": "2026-03-12T13:00:00+00:00", "timezone": "Europe/Berlin"},
    "congregation": {"timezone": "America/New_York"},
}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('{{ booking.start_time | date: "%d.%m.%Y %H:%M" }}', "12.03.2026 14:00"),
        ("{{ booking.start_time | date }}", "12.03.2026"),
        ('{{ booking.start_time | date: "%-d/%-m %-I %p" }}', "12/3 2 PM"),
        ('{{ booking.start_time | date: "%e|%A|%%|%Z" }}', "12|Thursday|%|CET"),
        ('{{ booking.start_time | date: "%F %T" }}', "2026-03-12 14:00:00"),
        ('{{ booking.start_time | date: "%H:%M", timezone: "UTC" }}', "13:00"),
        ("{{ booking.start_time | local_time }}", "12 March 2026, 14:00 (CET)"),
        ('{{ "2026-07-12T13:00:00Z" | date: "%H:%M %Z" }}', "15:00 CEST"),
        ('{{ "2026-07-12" | date: "%d.%m." }}', "12.07."),
        ('{{ 0 | date: "%Y %H:%M" }}', "1970 01:00"),
    ],
)
def test_dates_show_the_bookings_local_time(source: str, text: str) -> None:
    assert render_text(source, BERLIN) == text


@pytest.mark.parametrize(
    ("context", "hour"),
    [
        ({"booking": {"timezone": None}, "episode": {"timezone": "Asia/Tokyo"}}, "22"),
        ({"podcast": {"timezone": "Europe/Berlin"}}, "14"),
        ({"congregation": {"timezone": "America/New_York"}}, "09"),
        ({}, "13"),
    ],
)
def test_the_zone_comes_from_whoever_says_one_first(
    context: dict[str, Any], hour: str
) -> None:
    assert render_text('{{ "2026-03-12T13:00:00Z" | date: "%H" }}', context) == hour


@pytest.mark.parametrize(
    "source",
    [
        '{{ "soon" | date: "%H" }}',
        '{{ "" | append: "x" | date: "%H" }}',
        "{{ true | date }}",
        "{{ 99999999999999 | date }}",
        '{{ "0001-01-01T00:00:00+00:00" | date: "%H", timezone: "America/New_York" }}',
        '{{ booking.start_time | date: "%H", timezone: "../../etc/passwd" }}',
        "{{ booking | date }}",
    ],
)
def test_what_is_no_date_fails_with_a_sentence(source: str) -> None:
    with pytest.raises(CannotCompose) as failed:
        render_text(source, BERLIN)

    assert failed.value.sentence.startswith("Line 1: ")
