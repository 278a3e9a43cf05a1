"""Acting on rows: what one is told before, sees meanwhile, and can take back."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.installation import Carillon

#: More than an operation does at once.
MANY = 220


def _responded(number: int) -> dict[str, str]:
    about = {"podcast_id": "show", "event_id": f"r{number}"}
    return {"trigger_type": "guest.responded", **about}


def _confirm(parish: Carillon, *guests: str) -> None:
    """Let the booking of each guest be confirmed."""
    for guest in guests:
        steps.book(parish, guest.lower(), guest)
        parish.call("POST", f"/bookings/{guest.lower()}/confirm")


def _open(page: Page, parish: Carillon, search: str) -> None:
    """Open the one execution that a search finds, once it does."""
    address = f"{parish.url}/executions/?{search}"
    steps.find(page, address, "Welcome").click()
    expect(page.locator("#execution-detail")).to_be_visible()


def test_all_that_match_are_retried_after_a_look_at_their_number(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    steps.make_rule(page, parish, "Sorry", "booking.declined")
    parish.mails.refuse("rcpt", "550 5.7.1 Not from you")
    _confirm(parish, "Ada", "Emil")
    steps.book(parish, "clara", "Clara")
    parish.call("POST", "/bookings/clara/decline")
    failed = f"{parish.url}/executions/?state=failed"
    steps.find(page, failed, "Sorry")
    page.goto(f"{failed}&q=rule:welcome")
    page.get_by_label("Select all that can be retried").check()
    selected = page.get_by_role("button", name="Retry selected (2)")
    expect(selected).to_be_enabled()
    page.get_by_role("link", name="Retry all 2 that failed and match").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Retry 2 executions?")
    expect(page.locator(".consequences")).to_contain_text("left alone")
    expect(page.get_by_role("link", name="Back")).to_be_focused()
    parish.mails.behave()
    page.get_by_role("button", name="Retry 2 executions").click()
    expect(page.locator("#notices")).to_contain_text("2 queued for another try.")
    assert len(parish.letters(2)) == 2
    steps.find(page, failed, "Sorry")
    expect(page.locator("#executions tbody tr")).to_have_count(1)


def test_a_preview_tells_how_many_can_and_how_many_cannot_and_why(
    page: Page, parish: Carillon
) -> None:
    for name in ("ada", "emil", "clara"):
        contact = f"/agents/host@example.org/contacts/{name}@example.org"
        parish.call("PUT", contact, {"stage": "asked"})
    page.goto(f"{parish.url}/outreach/?q=contact:ada")
    page.get_by_role("link", name="ada@example.org").first.click()
    steps.press(page, "Pause")

    page.goto(f"{parish.url}/outreach/")
    page.locator("summary", has_text="Change many").click()
    page.locator(".bulk").get_by_role("link", name="Pause all 2").click()
    told = page.locator(".consequences")
    expect(told).to_contain_text(
        "1 cannot, and stays as it is: they are paused already."
    )
    page.get_by_role("button", name="Pause 2 engagements").click()
    expect(page.locator("#operation-counts")).to_contain_text("2")
    expect(page.locator("#operation-progress .pill").first).to_have_text("Done")


def test_an_operation_tells_how_far_it_is_and_is_stopped_and_resumed(
    page: Page, parish: Carillon
) -> None:
    steps.book(parish, "b1", "Ada")
    parish.call("POST", "/events", [_responded(number) for number in range(MANY)])
    state = page.locator("#operation-progress .pill").first
    progress = page.get_by_role("progressbar", name="How far it is")
    with steps.paused(page, parish, "operations"):
        page.goto(f"{parish.url}/events/?text=type:guest.responded")
        page.get_by_role("link", name=f"Replay all {MANY} events that match").click()
        page.get_by_label("Why").fill("A rule came too late")
        page.get_by_role("button", name=f"Replay {MANY} events").click()
        expect(progress).to_have_js_property("max", MANY)
        expect(progress).to_have_js_property("value", 0)
        expect(page.locator("main")).to_contain_text("A rule came too late")
        page.get_by_role("button", name="Stop").click()
        expect(state).to_have_text("Stopped")
    page.get_by_role("button", name="Resume").click()
    expect(state).to_have_text("Done", timeout=30_000)
    expect(progress).to_have_js_property("value", MANY)
    expect(page.locator("#operation-counts")).to_contain_text(f"{MANY} of {MANY}")


def test_what_was_cancelled_by_mistake_is_taken_back(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    state = page.locator("#execution-detail .pill").first
    with steps.paused(page, parish, "executions"):
        _confirm(parish, "Ada")
        _open(page, parish, "state=pending")
        steps.do_confirmed(page, "Cancel")
        expect(state).to_have_text("Cancelled")
        page.get_by_role("button", name="Undo").click()
        expect(state).to_have_text("Pending")
    expect(state).to_have_text("Succeeded")
    assert len(parish.letters(1)) == 1


def test_a_retry_keeps_the_history_and_asks_where_the_mail_may_have_arrived(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    parish.mails.drop("end", times=1)  # it takes the mail, and answers nothing
    _confirm(parish, "Ada")
    _open(page, parish, "state=failed")
    attempts = page.locator(".attempts > li")
    expect(attempts).to_have_count(1)
    asking = page.locator("details.confirm", has_text="Retry")
    asking.locator("summary").click()
    expect(asking).to_contain_text("it may have arrived")
    expect(asking).to_contain_text("a second time, with the same id")
    asking.locator("summary").click()
    steps.do_confirmed(page, "Retry")
    expect(page.locator("#execution-detail .pill").first).to_have_text("Succeeded")
    expect(attempts).to_have_count(2)
    expect(page.locator("#attempt-1")).to_contain_text("Unknown")
    expect(page.locator("section[aria-labelledby=deeds-heading]")).to_contain_text(
        "ines@example.org"
    )
    first, second = parish.letters(2)
    assert first.message["Message-ID"] == second.message["Message-ID"]


def test_a_mail_is_edited_for_one_time_after_a_look_at_what_changes(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    parish.mails.refuse("rcpt", "550 5.1.1 No such mailbox", times=1)
    _confirm(parish, "Ada")
    _open(page, parish, "state=failed")
    page.get_by_role("link", name="Edit and send").click()
    mended = f"ada.l{parish.guests_domain}"
    page.get_by_label("To", exact=True).fill(mended)
    page.get_by_label("Why").fill("A letter was missing")
    page.get_by_role("button", name="See what changes").click()
    expect(page.locator(".differences del")).to_have_text(f"ada{parish.guests_domain}")
    expect(page.locator(".differences ins")).to_have_text(mended)
    page.get_by_role("button", name="Send 1 edited mail").click()
    assert parish.letters(1)[0].recipients == [mended]

    _open(page, parish, "state=failed")
    page.get_by_role("link", name="a later execution").click()
    expect(page.locator("#execution-detail .pill").first).to_have_text("Succeeded")
    expect(page.locator("main")).to_contain_text(re.compile("Repeats"))
