"""The whole way by hand: from the first login to a retry that succeeds."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.installation import Carillon


def _mark(page: Page) -> None:
    """Leave a mark that a reload would wipe away."""
    page.evaluate("window.notReloaded = true")


def _is_unreloaded(page: Page) -> bool:
    return bool(page.evaluate("window.notReloaded === true"))


def test_a_congregation_and_its_token_are_made_by_hand(
    page: Page, parish: Carillon
) -> None:
    steps.make_congregation(page, parish)
    switcher = page.locator(".switcher summary")
    expect(switcher).to_have_text("St. Bonifatius")  # it was chosen, since one was
    switcher.click()
    page.get_by_role("link", name="All congregations").click()
    expect(switcher).to_have_text("All congregations")
    switcher.click()
    page.locator(".switcher").get_by_role("link", name="St. Bonifatius").click()
    expect(switcher).to_have_text("St. Bonifatius")
    steps.make_token(page, parish)
    parish.call("PUT", "/podcasts/show", {"title": "Kirchplatz"})
    page.goto(f"{parish.url}/congregations/bonifatius")
    expect(page.locator("main")).to_contain_text("Kirchplatz")


def test_an_execution_succeeds_fails_and_is_retried_before_ones_eyes(
    page: Page, parish: Carillon
) -> None:
    steps.book(parish, "b1", "Jörg 🎙")
    steps.write_rule(page, parish, "Welcome", "booking.confirmed")

    # Held back for a moment, so that the page shows it waiting first.
    page.goto(f"{parish.url}/lanes/executions")
    steps.do_confirmed(page, "Pause")
    expect(page.locator("main")).to_contain_text(re.compile("paused", re.IGNORECASE))
    parish.call("POST", "/bookings/b1/confirm")
    page.goto(f"{parish.url}/executions/")
    page.get_by_role("link", name="Welcome").click()
    detail = page.locator("#execution-detail")
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "pending")
    _mark(page)

    lanes = page.context.new_page()
    lanes.goto(f"{parish.url}/lanes/executions")
    lanes.get_by_role("button", name="Resume").first.click()
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "succeeded")
    assert _is_unreloaded(page)
    [mail] = parish.letters(1)
    assert mail.subject == "Hello Jörg 🎙"

    parish.mails.stop()
    steps.book(parish, "b2", "Ada")
    parish.call("POST", "/bookings/b2/confirm")
    steps.find(page, f"{parish.url}/executions/?state=failed", "Welcome").click()
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "failed")
    expect(page.locator("#execution-error")).to_contain_text("cannot be reached")

    parish.mails.start()
    page.get_by_role("button", name="Retry").click()
    _mark(page)
    expect(detail.locator(".pill").first).to_have_attribute("data-state", "succeeded")
    assert _is_unreloaded(page)
    assert parish.letters(2)[1].subject == "Hello Ada"


def test_a_scheduled_job_is_cancelled_and_a_lane_is_rung_and_paused(
    page: Page, parish: Carillon
) -> None:
    steps.book(parish, "b1", "Jörg 🎙")
    steps.write_rule(page, parish, "Reminder", "time.before_recording", offset_hours=24)
    parish.call("POST", "/bookings/b1/confirm")

    page.goto(f"{parish.url}/scheduled/")
    page.get_by_role("link", name="Reminder").click()
    steps.do_confirmed(page, "Cancel")
    expect(page.locator("main .pill").first).to_have_attribute(
        "data-state", "cancelled"
    )

    page.goto(f"{parish.url}/lanes/rescue")
    page.get_by_role("button", name="Sweep now").first.click()
    _mark(page)
    expect(page.locator("#lane-live")).to_contain_text("ines@example.org")
    expect(page.locator("#lane-live")).to_contain_text(
        re.compile("nothing|0 ", re.IGNORECASE)
    )
    steps.do_confirmed(page, "Pause")
    page.get_by_role("button", name="Resume").first.click()
    expect(page.locator("main")).to_contain_text("Resumed.")

    page.goto(f"{parish.url}/audit/?congregation=")  # a lane belongs to none
    for deed in ("Reminder", "rescue"):
        expect(page.locator("main")).to_contain_text(deed, ignore_case=True)
