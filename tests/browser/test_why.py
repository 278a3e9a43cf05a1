"""Why did this not fire?  Asked for an event that matched nothing, and for none."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.installation import Carillon
from tests.support.processes import until
from tests.support.smtp_sink import Mail


def _tests(parish: Carillon) -> list[Mail]:
    return [mail for mail in [*parish.mails.mails] if mail.subject.startswith("[TEST]")]


def test_the_reason_is_read_for_an_event_that_matched_nothing_and_for_no_event(
    page: Page, parish: Carillon
) -> None:
    steps.book(parish, "b1", "Jörg 🎙")
    steps.write_rule(page, parish, "Welcome", "booking.confirmed")

    # A booking of which nothing was reported, from the rule that should have acted.
    page.get_by_role("link", name="Why did it not fire?").click()
    page.get_by_label("Search").fill("jörg")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Jörg 🎙").click()
    expect(page.locator("#verdict")).to_have_text(
        "No “Booking confirmed” was ever reported for it; its status is requested."
    )
    page.get_by_role("link", name="The timeline").click()
    expect(page.get_by_text("Nothing happened yet")).to_be_visible()
    page.get_by_role("link", name="Why did nothing happen?").click()
    expect(page.locator("main")).to_contain_text(
        "No event was ever reported for this booking"
    )

    # An event for which no rule waits.
    parish.call("POST", "/bookings/b1/decline")
    page.goto(f"{parish.url}/events/")
    page.get_by_role("link", name="Booking declined").click()
    main = page.locator("main")
    expect(main).to_contain_text("no rule waits for “Booking declined”")
    expect(page.get_by_role("heading", name="Why nothing fired")).to_be_visible()
    expect(page.locator("#other-triggers")).to_have_text(
        "1 rule waits for other triggers."
    )
    page.get_by_role("link", name="Every rule").click()
    expect(main).to_contain_text("its status is declined")

    # And what it would do, if it were asked to.
    page.goto(f"{parish.url}/rules/")
    page.get_by_role("link", name="Welcome").click()
    page.get_by_role("link", name="Try it").click()
    page.get_by_role("link", name="Jörg 🎙").click()
    expect(page.locator("#trial-verdict")).to_contain_text("It would be stopped.")
    expect(page.locator("#trial")).to_contain_text("Hello Jörg 🎙")
    page.get_by_role("button", name="Send a test to your own address").click()
    expect(main).to_contain_text("The test was sent to ines@example.org.")
    mail = until(lambda: _tests(parish))[0]
    assert mail.subject == "[TEST] Hello Jörg 🎙"
    assert mail.recipients == ["ines@example.org"]
