"""What an operator does, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Locator, Page, expect

from tests.browser import forms
from tests.browser.installation import PASSWORD, Carillon
from tests.support.processes import until


def become_first_admin(page: Page, carillon: Carillon) -> None:
    """Follow the one-time link and log in."""
    page.goto(carillon.setup_link)
    page.get_by_label("E-mail").fill("ines@example.org")
    page.get_by_label("Name", exact=True).fill("Ines")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.locator("#again").fill(PASSWORD)
    page.get_by_role("button", name="Create the first admin").click()
    if "/login" in page.url:
        log_in(page)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def become_operator(page: Page, link: str, email: str) -> None:
    """Follow the one-time link that an admin gave, and log in."""
    page.goto(link)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.locator("#again").fill(PASSWORD)
    page.get_by_role("button", name="Save the password").click()
    if "/login" in page.url:
        log_in(page, email)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def log_in(page: Page, email: str = "ines@example.org") -> None:
    """Log in on the page that is open."""
    page.get_by_label("E-mail").fill(email)
    page.locator("input[type=password]").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def make_congregation(page: Page, carillon: Carillon) -> None:
    """Make the congregation through its form."""
    page.goto(f"{carillon.url}/congregations/new")
    page.get_by_label("Name", exact=True).fill("St. Bonifatius")
    page.locator("#slug").fill("bonifatius")
    page.locator("#timezone").fill("Europe/Berlin")
    page.locator("main button.btn-primary").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("St. Bonifatius")


def make_token(page: Page, carillon: Carillon) -> None:
    """Make a token for the producer and remember it."""
    page.goto(f"{carillon.url}/tokens/new")
    page.locator("#name").fill("Website")
    page.get_by_role("button", name="Make the token").click()
    shown = page.locator("main").get_by_text("crl_").first
    text = shown.input_value() if _is_input(shown) else shown.inner_text()
    carillon.token = text.strip()


def _is_input(locator: Locator) -> bool:
    return bool(locator.evaluate("node => 'value' in node"))


def book(
    carillon: Carillon,
    booking_id: str,
    guest: str,
    ahead: timedelta = timedelta(days=3),
) -> None:
    """Tell of a booking, as the website does."""
    start = datetime.now(UTC).replace(microsecond=0) + ahead
    carillon.call("PUT", "/podcasts/show", {"title": "Kirchplatz"})
    carillon.call(
        "PUT",
        f"/bookings/{booking_id}",
        {
            "podcast_id": "show",
            "guest_name": guest,
            "guest_email": f"{booking_id}{carillon.guests_domain}",
            "start_time": start.isoformat(),
        },
    )


def write_rule(
    page: Page,
    carillon: Carillon,
    name: str,
    trigger: str,
    *,
    attempts: int = 1,
    offset_hours: int | None = None,
) -> None:
    """Write a mail rule in the form, as it adapts to the trigger."""
    page.goto(f"{carillon.url}/rules/new")
    with page.expect_response(lambda answer: "/rules/fields" in answer.url):
        page.locator("#trigger_type").select_option(trigger)
    # The form is swapped as a whole; what is typed before that would be lost.
    under_way = page.locator(".htmx-request, .htmx-swapping, .htmx-settling")
    expect(under_way).to_have_count(0)
    expect(page.locator("#trigger_type")).to_have_value(trigger)
    if offset_hours is not None:
        page.locator("#offset_value").fill(str(offset_hours))
        page.locator("#offset_unit").select_option("hours")
    page.locator("#name").fill(name)
    page.locator("#subject").fill("Hello {{ guest.name }}")
    page.locator("#text").fill(
        "We look forward to {{ booking.start_time | date: '%d.%m.' }}."
    )
    page.locator("#max_attempts").fill(str(attempts))
    page.get_by_role("button", name="Create the rule").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def make_rule(
    page: Page, carillon: Carillon, name: str, trigger: str, **fields: str
) -> str:
    """Make a mail rule without showing its form; return the rule's address."""
    new = f"{carillon.url}/rules/new"
    chosen = forms.filled_in(page.request.get(new).text(), trigger_type=trigger)
    adapted = forms.post(page, f"{carillon.url}/rules/fields", chosen)
    said = {
        "name": name,
        "subject": f"{name} {{{{ guest.name }}}}",
        "max_attempts": "1",
    }
    sent = forms.filled_in(str(adapted), **(said | fields))
    made = forms.post(page, f"{carillon.url}/rules/", sent)
    heading = made.select("main h1")[0].get_text(strip=True)
    assert heading == name, made.select("main")[0].get_text(" ", strip=True)
    return carillon.url + dict(sent)["rule_id"].join(("/rules/", ""))


@contextmanager
def paused(page: Page, carillon: Carillon, *lanes: str) -> Iterator[None]:
    """Keep lanes, which are everybody's, from working for the length of the block."""
    for lane in lanes:
        _press_on_lane(page, carillon, lane, "pause")
    try:
        yield
    finally:
        for lane in lanes:
            resume(page, carillon, lane)


def resume(page: Page, carillon: Carillon, lane: str) -> None:
    """Let a lane go on; nothing happens where it is not paused."""
    _press_on_lane(page, carillon, lane, "resume")


def sweep(page: Page, carillon: Carillon, lane: str) -> None:
    """Let a lane look at once."""
    _press_on_lane(page, carillon, lane, "sweep")


def _press_on_lane(page: Page, carillon: Carillon, lane: str, verb: str) -> None:
    address = f"{carillon.url}/lanes/{lane}"
    forms.press(page, address, f"{address}/{verb}")


def do_confirmed(page: Page, label: str) -> None:
    """Press a button that asks first, and say yes."""
    asking = page.locator("details.confirm").filter(
        has=page.locator("summary", has_text=label)
    )
    asking.locator("summary").click()
    asking.get_by_role("button").click()


def press(page: Page, label: str) -> None:
    """Press a button, whether it asks first or not."""
    asking = page.locator("details.confirm summary", has_text=label)
    button = page.get_by_role("button", name=label, exact=True)
    # The page that has it may be on its way.
    asking.or_(button).first.wait_for()
    if asking.count():
        do_confirmed(page, label)
    else:
        button.click()


def find(page: Page, url: str, name: str) -> Locator:
    """Open a list again and again until it shows a link called ``name``."""
    link = page.get_by_role("link", name=name)

    def is_there() -> bool:
        page.goto(url)
        return link.count() > 0

    until(is_there, 20, every=0.3)
    return link.first


def fail(page: Page, parish: Carillon, *bookings: str) -> None:
    """Make the rule "Welcome", and let a mail of it fail for good for each booking."""
    make_rule(page, parish, "Welcome", "booking.confirmed")
    for booking in bookings:
        fail_again(page, parish, booking)


def fail_again(page: Page, parish: Carillon, booking: str) -> None:
    """Let one more mail of the rule "Welcome" fail for good."""
    parish.mails.refuse("rcpt", "550 5.7.1 Not from you")
    book(parish, booking, "Ada")
    parish.call("POST", f"/bookings/{booking}/confirm")
    find(page, f"{parish.url}/executions/?state=failed", "Welcome")
    parish.mails.behave()
