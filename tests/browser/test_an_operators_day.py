"""The whole way by hand: from the first login to a retry that succeeds."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.conftest import Carillon


def _begin(page: Page, carillon: Carillon) -> None:
    steps.become_first_admin(page, carillon)
    steps.make_congregation(page, carillon)
    steps.make_token(page, carillon)
    steps.book(carillon, "b1", "Jörg 🎙")


def _mark(page: Page) -> None:
    """Leave a mark that a reload would wipe away."""
    page.evaluate("window.notReloaded = true")


def _is_unreloaded(page: Page) -> bool:
    return bool(page.evaluate("window.notReloaded === true"))


@pytest.mark.timeout(240)
def test_an_execution_succeeds_fails_and_is_retried_before_ones_eyes(
    page: Page, carillon: Carillon
) -> None:
    _begin(page, carillon)
    steps.write_rule(page, carillon, "Welcome", "booking.confirmed")

    # Held back for a moment, so that the page shows it waiting first.
    page.goto(f"{carillon.url}/lanes/executions")
    steps.do_confirmed(page, "Pause")
    expect(page.locator("main")).to_contain_text(re.compile("paused", re.IGNORECASE))
    carillon.call("POST", "/bookings/b1/confirm")
    page.goto(f"{carillon.url}/executions/")
    page.get_by_role("link", name="Welcome").click()
    detail = page.locator("#execution-detail")
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "pending")
    _mark(page)

    lanes = page.context.new_page()
    lanes.goto(f"{carillon.url}/lanes/executions")
    lanes.get_by_role("button", name="Resume").first.click()
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "succeeded")
    assert _is_unreloaded(page)
    [mail] = carillon.mails.wait_for(1)
    assert mail.subject == "Hello Jörg 🎙"

    carillon.mails.stop()
    steps.book(carillon, "b2", "Ada")
    carillon.call("POST", "/bookings/b2/confirm")
    steps.find(page, f"{carillon.url}/executions/?state=failed", "Welcome").click()
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "failed")
    expect(page.locator("#execution-error")).to_contain_text("cannot be reached")

    carillon.mails.start()
    page.get_by_role("button", name="Retry").click()
    _mark(page)
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "succeeded")
    assert _is_unreloaded(page)
    assert carillon.mails.wait_for(2)[1].subject == "Hello Ada"


@pytest.mark.timeout(240)
def test_a_scheduled_job_is_cancelled_and_a_lane_is_rung_and_paused(
    page: Page, carillon: Carillon
) -> None:
    _begin(page, carillon)
    steps.write_rule(
        page, carillon, "Reminder", "time.before_recording", offset_hours=24
    )
    carillon.call("POST", "/bookings/b1/confirm")

    page.goto(f"{carillon.url}/scheduled/")
    page.get_by_role("link", name="Reminder").click()
    steps.do_confirmed(page, "Cancel")
    expect(page.locator("main .pill").first).to_have_attribute(
        "data-state", "cancelled"
    )

    page.goto(f"{carillon.url}/lanes/rescue")
    page.get_by_role("button", name="Sweep now").first.click()
    _mark(page)
    expect(page.locator("#lane-live")).to_contain_text("ines@example.org")
    expect(page.locator("#lane-live")).to_contain_text(
        re.compile("nothing|0 ", re.IGNORECASE)
    )
    steps.do_confirmed(page, "Pause")
    expect(page.get_by_role("button", name="Resume").first).to_be_visible()

    page.goto(f"{carillon.url}/audit/")
    for deed in ("Reminder", "rescue"):
        expect(page.locator("main")).to_contain_text(deed, ignore_case=True)
