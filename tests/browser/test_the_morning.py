"""The morning round: what failed in the night is read, retried and taken note of."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.conftest import Carillon
from tests.support.processes import until


def _fail_in_the_night(page: Page, carillon: Carillon) -> None:
    """Let two mails of one rule and one of another fail while nobody looks."""
    steps.become_first_admin(page, carillon)
    steps.make_congregation(page, carillon)
    steps.make_token(page, carillon)
    for rule, trigger in (
        ("Welcome", "booking.confirmed"),
        ("Sorry", "booking.declined"),
    ):
        steps.write_rule(page, carillon, rule, trigger)
    carillon.mails.stop()
    for booking, guest in (("b1", "Jörg 🎙"), ("b2", "Ada")):
        steps.book(carillon, booking, guest)
        carillon.call("POST", f"/bookings/{booking}/confirm")
    steps.book(carillon, "b3", "Emil")
    carillon.call("POST", "/bookings/b3/decline")


@pytest.mark.timeout(240)
def test_what_failed_in_the_night_is_read_retried_and_taken_note_of(
    page: Page, carillon: Carillon
) -> None:
    _fail_in_the_night(page, carillon)

    # Open: what is wrong stands on the first page, by its cause.
    failing = page.locator("#what-fails")

    def all_failed() -> bool:
        page.goto(carillon.url)
        return failing.locator(".line-mark").all_inner_texts() in (
            ["1", "2"],
            ["2", "1"],
        )

    until(all_failed, 30, every=0.5)
    expect(page.locator(".tile", has_text="Failures")).to_contain_text("2")

    # Read: one line for the two mails, with all that they have in common.
    failing.locator("li", has_text="Welcome").get_by_role("link").first.click()
    expect(page.locator("#failure-cause")).to_contain_text("cannot be reached")
    members = page.locator("#failure-members")
    expect(members).to_contain_text("Jörg 🎙")
    expect(members).to_contain_text("Ada")

    # Retry the group, and watch it.
    carillon.mails.start()
    page.get_by_role("link", name="Retry all 2 that failed").click()
    page.get_by_role("button", name="Retry 2 executions").click()
    carillon.mails.wait_for(2)

    def all_sent() -> bool:
        page.reload()
        states = members.locator("tbody .pill")
        return states.all_inner_texts() == ["Succeeded", "Succeeded"]

    until(all_sent, 30, every=0.5)
    expect(page.locator(".state-line .pill")).to_have_text("Retried")

    # Take note of the rest; then the first page is calm.
    page.goto(f"{carillon.url}/failures/")
    rest = page.locator("#failures tbody tr")
    expect(rest).to_have_count(1)
    expect(rest).to_contain_text("Sorry")
    rest.locator("input[type=checkbox]").check()
    page.get_by_label("Note").fill("The mail server was moved")
    page.locator("#selection button").click()
    expect(page.locator("#failures-list")).to_contain_text("No failure asks")
    page.goto(carillon.url)
    expect(page.locator("#all-is-well")).to_contain_text("somebody took note of it")
    assert len(carillon.mails.wait_for(2)) == 2
