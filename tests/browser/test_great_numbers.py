"""Great numbers: what is said of more rows than anybody counts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tasks.lane import COUNT_CAP
from tests.browser import steps
from tests.browser.installation import Carillon

#: Events in one call of the API, at most.
_AT_ONCE = 500
#: The thin gap is one of French and English alike.
_MORE = re.compile(r"10\s000\+ events")


def _responded(number: int) -> dict[str, str]:
    about = {"podcast_id": "show", "event_id": f"r{number}"}
    return {"trigger_type": "guest.responded", **about}


@pytest.fixture
def crowd(parish: Carillon) -> Carillon:
    """Return a congregation to which more happened than is counted."""
    steps.book(parish, "b1", "Ada")
    parish.call("POST", "/bookings/b1/confirm")
    for start in range(0, COUNT_CAP + 1, _AT_ONCE):
        some = range(start, start + _AT_ONCE)
        told = parish.call("POST", "/events", [_responded(number) for number in some])
        assert told["accepted"] == _AT_ONCE
    return parish


def test_more_than_are_counted_are_told_as_more_before_a_verb_and_on_its_preview(
    page: Page, crowd: Carillon
) -> None:
    page.goto(f"{crowd.url}/events/?text=type:guest.responded")
    verb = page.get_by_role("link", name="Replay all")
    expect(verb).to_have_text(_MORE)
    verb.click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(re.compile(rf"^Replay {_MORE.pattern}\?$"))
    expect(page.get_by_role("button", name=_MORE)).to_be_enabled()
    expect(page.locator(".consequences")).to_contain_text("piece by piece")
    page.get_by_role("link", name="Back").click()
    expect(page).to_have_url(re.compile(r"/events/\?.*guest\.responded"))

    page.get_by_role("link", name="Export").click()
    expect(page.get_by_role("button", name="CSV")).to_have_text(_MORE)

    page.goto(f"{crowd.url}/events/?text=type:booking.confirmed")
    page.get_by_role("link", name="Replay the one event that matches").click()
    expect(heading).to_have_text("Replay 1 event?")
