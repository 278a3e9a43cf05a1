"""Understanding: what is wrong or late, why it waits, what was and what comes."""

from __future__ import annotations

import re
from datetime import timedelta

from playwright.sync_api import Page, expect

from tasks.clock import utcnow
from tests.browser import forms, steps
from tests.browser.installation import Carillon
from tests.support.processes import until

#: It is tried again after so long that a test can look at it meanwhile.
PATIENT = {"max_attempts": "3", "retry_first_seconds": "3600"}


def test_the_first_page_tells_what_is_wrong_what_is_late_and_what_is_next(
    page: Page, parish: Carillon
) -> None:
    steps.fail(page, parish, "b1")
    steps.make_rule(page, parish, "Reminder", "time.before_recording")
    for booking in ("b2", "b3"):
        steps.book(parish, booking, booking.title())
        parish.call("POST", f"/bookings/{booking}/confirm")
    with steps.paused(page, parish, "scheduled_jobs"):
        parish.let_pass("b2", timedelta(days=2, minutes=5))
        page.goto(parish.url)
        tile = page.locator(".tile")
        expect(tile.filter(has_text="Failures")).to_contain_text("1")
        expect(tile.filter(has_text="Late jobs")).to_contain_text(
            "the oldest waits for 5 min"
        )
        expect(tile.filter(has_text="Paused lane")).to_contain_text("ines@example.org")
        expect(page.locator("#coming li", has_text="B3")).to_contain_text("Reminder")
        tile.filter(has_text="Late jobs").click()
        expect(page.locator("#scheduled tbody tr")).to_have_count(1)
        expect(page.locator("#scheduled")).to_contain_text("B2")


def test_what_failed_once_shows_that_it_recovered_by_itself(
    page: Page, parish: Carillon
) -> None:
    steps.fail(page, parish, "b1")
    steps.book(parish, "b2", "Emil")
    parish.call("POST", "/bookings/b2/confirm")
    parish.letters(1)
    steps.find(page, f"{parish.url}/executions/?state=succeeded", "Welcome")
    page.goto(f"{parish.url}/failures/")
    group = page.locator("#failures tbody tr")
    expect(group.locator(".pill")).to_have_text("Recovered")
    expect(group.get_by_role("img", name=re.compile("^1 failure "))).to_be_visible()


def test_a_group_is_read_with_its_samples_and_taken_note_of_until_a_time(
    page: Page, parish: Carillon
) -> None:
    steps.fail(page, parish, "b1", "b2")
    page.goto(f"{parish.url}/failures/")
    group = page.locator("#failures tbody tr")
    expect(group).to_have_count(1)
    expect(group.locator('[data-label="Still failed"]')).to_have_text("2")
    expect(group.locator('[data-label="First"] time')).to_be_visible()
    expect(group.locator('[data-label="Last"] time')).to_be_visible()
    group.get_by_role("link").first.click()
    samples = page.locator("#failure-members tbody tr")
    expect(samples).to_have_count(2)
    expect(samples.first).to_contain_text("550 5.7.1 Not from you")

    page.get_by_label("Note", exact=True).fill("The provider lifts the block")
    tomorrow = utcnow() + timedelta(days=1)
    page.get_by_label("Quiet until").fill(f"{tomorrow:%Y-%m-%dT%H:%M}")
    page.get_by_role("button", name="Acknowledge").click()
    taken = page.locator("section[aria-labelledby=note-heading]")
    for told in ("ines@example.org", "quiet until", "The provider lifts the block"):
        expect(taken).to_contain_text(told)
    expect(page.locator(".state-line .pill")).to_have_text("Acknowledged")

    steps.fail_again(
        page, parish, "b3"
    )  # it goes on failing, and asks for nobody till then
    page.goto(f"{parish.url}/failures/?show=acknowledged")
    expect(group.locator('[data-label="Still failed"]')).to_have_text("3")
    group.get_by_role("link").first.click()
    page.get_by_role("button", name="Let it ask again").click()
    page.goto(f"{parish.url}/failures/")
    expect(group.locator(".pill")).to_have_text("Failed")


def test_every_waiting_row_says_why_and_when_it_is_expected_to_begin(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed", **PATIENT)
    why = page.locator("#why-waiting")
    parish.mails.refuse("rcpt", "451 4.3.0 Try later", times=1)
    steps.book(parish, "b1", "Ada")
    parish.call("POST", "/bookings/b1/confirm")
    steps.find(page, f"{parish.url}/executions/?q=failures:1", "Welcome").click()
    expect(why).to_contain_text("It failed 1 time; attempt 2 of 3 comes next.")
    expect(why).to_contain_text("Expected to begin in")

    steps.make_rule(page, parish, "Reminder", "time.before_recording")
    steps.book(parish, "b2", "Emil")
    parish.call("POST", "/bookings/b2/confirm")
    page.goto(f"{parish.url}/scheduled/")
    page.get_by_role("link", name="Reminder").click()
    expect(why).to_contain_text("Its time has not come yet.")
    expect(why).to_contain_text("Expected to begin in")

    with steps.paused(page, parish, "executions"):
        steps.book(parish, "b3", "Clara")
        parish.call("POST", "/bookings/b3/confirm")
        page.goto(f"{parish.url}/executions/?q=guest:clara")
        row = page.locator("#executions tbody tr")
        expect(row).to_contain_text("lane paused")
        row.get_by_role("link", name="Welcome").click()
        expect(why).to_contain_text("was paused by ines@example.org at")
        expect(why).to_contain_text("Nobody can say when it begins.")
    expect(page.locator("#execution-detail .pill").first).to_have_text("Succeeded")
    expect(why).to_have_count(0)


def test_a_timeline_tells_what_was_and_what_is_still_to_come(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    steps.make_rule(page, parish, "Reminder", "time.before_recording")
    steps.book(parish, "b1", "Ada")
    parish.call("POST", "/bookings/b1/confirm")
    parish.letters(1)
    steps.find(page, f"{parish.url}/executions/?state=succeeded", "Ada").click()
    ahead = page.locator("section[aria-labelledby=ahead-heading]")
    past = page.locator("section[aria-labelledby=past-heading]")
    expect(ahead.locator("li")).to_have_count(1)
    expect(ahead).to_contain_text("Reminder")
    expect(past).to_contain_text("Booking confirmed")
    expect(past.locator("[data-kind=execution]")).to_contain_text("Succeeded")

    parish.call("POST", "/bookings/b1/cancel")
    page.reload()
    expect(ahead).to_contain_text("Nothing is planned")
    expect(past.locator("li", has_text="Reminder")).to_contain_text("Cancelled")


def test_what_a_timeline_foretells_is_called_off_and_brought_forward_right_there(
    page: Page, parish: Carillon
) -> None:
    for name in ("Reminder", "Directions"):
        steps.make_rule(page, parish, name, "time.before_recording")
    steps.book(parish, "b1", "Ada")
    parish.call("POST", "/bookings/b1/confirm")
    page.goto(f"{parish.url}/congregations/{parish.slug}/bookings/b1")
    ahead = page.locator("section[aria-labelledby=ahead-heading] li")
    past = page.locator("section[aria-labelledby=past-heading] li")
    expect(ahead).to_have_count(2)
    for name, verb, told in (
        ("Reminder", "Cancel", "“Reminder” will not happen."),
        (
            "Directions",
            "Run now",
            "“Directions” is carried out now instead of at its time",
        ),
    ):
        row = ahead.filter(has_text=name)
        asking = row.locator("details.confirm", has_text=verb)
        asking.locator("summary").click()
        expect(asking).to_contain_text(told)
        asking.get_by_role("button").click()
        expect(page.locator("#notices .notice")).to_be_visible()
        expect(page).to_have_url(re.compile("/bookings/b1$"))

    def is_nothing_left() -> bool:
        page.reload()
        return ahead.count() == 0

    until(is_nothing_left, 20, every=0.3)  # a worker takes what is to run now
    [mail] = parish.letters(1)
    assert mail.subject == "Directions Ada"
    expect(past.filter(has_text="Reminder").first).to_contain_text("Cancelled")


def test_the_agenda_shows_hours_of_a_week_and_what_fires_in_each(
    page: Page, parish: Carillon
) -> None:
    rule = steps.make_rule(page, parish, "Reminder", "time.before_recording")
    for booking in ("b1", "b2"):
        steps.book(parish, booking, booking.title())
        parish.call("POST", f"/bookings/{booking}/confirm")
    page.goto(f"{parish.url}/agenda/?rule={rule.rsplit('/', 1)[1]}")
    expect(page.locator(".agenda-note")).to_contain_text("2 scheduled jobs")
    expect(page.locator("#agenda tbody tr")).to_have_count(2)
    hour = page.locator("table.agenda td a")
    expect(hour).to_have_count(1)
    expect(hour).to_contain_text("2")
    hour.click()
    expect(page.get_by_role("link", name="Show all seven days")).to_be_visible()
    expect(page.locator("#agenda tbody tr")).to_have_count(2)
    page.go_back()
    page.get_by_role("link", name="Week after").click()
    expect(page.locator("table.agenda tbody tr")).to_have_count(7)
    expect(hour).to_have_count(0)


def test_an_execution_leads_from_its_rule_s_version_to_what_changed_since(
    page: Page, parish: Carillon
) -> None:
    rule = steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    steps.book(parish, "b1", "Ada")
    parish.call("POST", "/bookings/b1/confirm")
    parish.letters(1)
    forms.send(page, f"{rule}/edit", subject="Good day {{ guest.name }}")
    steps.find(page, f"{parish.url}/executions/?state=succeeded", "Welcome").click()
    page.get_by_role("link", name="version 1").click()
    comparison = page.locator("#comparison")
    expect(comparison).to_contain_text("From version 1 to version 2")
    expect(comparison.locator("del")).to_contain_text("Welcome {{ guest.name }}")
    expect(comparison.locator("ins")).to_contain_text("Good day {{ guest.name }}")
