"""The morning round: what failed in the night is read, retried and taken note of.

Once by keyboard alone, and once in French on a phone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tasks.saying import language, say, say_many
from tests.browser import forms, steps
from tests.browser.hands import Finger, Hand, Keys
from tests.browser.installation import Carillon
from tests.support.processes import until

#: Language, width of the window, and how the operator acts.
ROUNDS = [("en", 1280, Keys()), ("fr", 390, Finger())]


def _fail_in_the_night(page: Page, parish: Carillon) -> None:
    """Let two mails of one rule and one of another fail while nobody looks."""
    for rule, trigger in (
        ("Welcome", "booking.confirmed"),
        ("Sorry", "booking.declined"),
    ):
        steps.write_rule(page, parish, rule, trigger)
    parish.mails.stop()
    for booking, guest in (("b1", "Jörg 🎙"), ("b2", "Ada")):
        steps.book(parish, booking, guest)
        parish.call("POST", f"/bookings/{booking}/confirm")
    steps.book(parish, "b3", "Emil")
    parish.call("POST", "/bookings/b3/decline")


def _all_failed(page: Page, parish: Carillon) -> bool:
    page.goto(parish.url)
    found = page.locator("#what-fails .line-mark").all_inner_texts()
    return sorted(found) == ["1", "2"]


@contextmanager
def _read_in(page: Page, parish: Carillon, sign: str) -> Iterator[None]:
    """Choose a language; within the block ``say`` speaks it as well."""
    page.goto(f"{parish.url}/account/")
    page.locator("#language").select_option(sign)
    page.locator("main form button.btn-primary").click()
    expect(page.locator("html")).to_have_attribute("lang", sign)
    before = language.set(sign)
    try:
        yield
    finally:
        language.reset(before)
        forms.send(page, f"{parish.url}/account/", language="")


@pytest.mark.parametrize(
    ("sign", "width", "hand"), ROUNDS, ids=["by keyboard", "in French on a phone"]
)
def test_what_failed_in_the_night_is_read_retried_and_taken_note_of(
    page: Page, parish: Carillon, sign: str, width: int, hand: Hand
) -> None:
    _fail_in_the_night(page, parish)
    page.set_viewport_size({"width": width, "height": 844})
    with _read_in(page, parish, sign):
        until(lambda: _all_failed(page, parish), 30, every=0.5)
        _read_and_retry(page, parish, hand)
        _take_note_of_the_rest(page, parish, hand)
    assert len(parish.letters(2)) == 2


def _read_and_retry(page: Page, parish: Carillon, hand: Hand) -> None:
    """Open the two that failed alike from the first page, and retry them as one."""
    expect(page.locator(".tile", has_text=say("Failures"))).to_contain_text("2")
    hand.open(page.locator("#what-fails li", has_text="Welcome"))
    expect(page.get_by_role("heading", level=1)).not_to_be_empty()
    members = page.locator("#failure-members")
    expect(members).to_contain_text("Jörg 🎙")
    expect(members).to_contain_text("Ada")

    parish.mails.start()
    all_two = "Retry the one that failed", "Retry all %(shown)s that failed"
    hand.press(page.get_by_role("link", name=say_many(2, *all_two, shown="2")))
    two = say_many(2, "Retry %(n)s execution", "Retry %(n)s executions")
    hand.press(page.get_by_role("button", name=two))
    parish.letters(2)

    def all_sent() -> bool:
        page.reload()
        states = members.locator("tbody .pill")
        return states.all_inner_texts() == [say("Succeeded")] * 2

    until(all_sent, 30, every=0.5)
    expect(page.locator(".state-line .pill")).to_have_text(say("Retried"))


def _take_note_of_the_rest(page: Page, parish: Carillon, hand: Hand) -> None:
    """Acknowledge what is left; then the first page is calm."""
    hand.go(page, "f", "/failures/")
    rest = page.locator("#failures tbody tr")
    expect(rest).to_have_count(1)
    expect(rest).to_contain_text("Sorry")
    hand.mark(rest)
    expect(page.locator("#selection button")).to_contain_text("(1)")
    hand.write(page.locator("#selection [name=note]"), "The mail server was moved")
    hand.press(page.locator("#selection button"))
    calm = say("No failure asks for anybody")
    expect(page.locator("#failures-list")).to_contain_text(calm)
    page.goto(parish.url)
    expect(page.locator("#all-is-well")).to_be_visible()
