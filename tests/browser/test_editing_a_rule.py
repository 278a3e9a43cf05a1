"""A rule is edited: one sees what will happen, saves, and finds that it happened."""

from __future__ import annotations

from datetime import datetime, timedelta

from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.installation import Carillon


def _coming(page: Page) -> datetime:
    """Return when the one job on the rule's page is to run."""
    job = page.locator("section[aria-labelledby=jobs-heading] time")
    expect(job).to_have_count(1)
    return datetime.fromisoformat(job.get_attribute("datetime") or "")


def test_an_edit_shows_what_moves_and_then_moves_it(
    page: Page, parish: Carillon
) -> None:
    steps.book(parish, "b1", "Jörg 🎙")
    steps.write_rule(page, parish, "Reminder", "time.before_recording", offset_hours=24)
    rule = page.url
    parish.call("POST", "/bookings/b1/confirm")
    page.goto(rule)
    before = _coming(page)

    page.get_by_role("link", name="Edit").click()
    page.locator("#offset_value").fill("2")
    page.get_by_role("button", name="Save").click()
    moved = page.locator("#fate-moved")
    expect(moved).to_contain_text("1 job moves")
    expect(moved).to_contain_text("Jörg 🎙")
    expect(moved).to_contain_text("(Europe/Berlin)")

    page.get_by_role("button", name="Back").click()
    expect(page.locator("#offset_value")).to_have_value("2")
    page.get_by_role("button", name="Save").click()
    expect(moved).to_contain_text("1 job moves")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("main")).to_contain_text("1 job planned anew")
    assert _coming(page) == before + timedelta(hours=22)

    page.goto(f"{rule}/versions")
    expect(page.locator("#version-2")).to_contain_text("Edited")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#comparison")).to_contain_text("24 → 2")
