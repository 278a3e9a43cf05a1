"""Holding back: a lane that is paused, a kill switch, and a rule that went mad."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from playwright.sync_api import Page, expect

from tests.browser import forms, steps
from tests.browser.installation import Carillon
from tests.support.processes import until


def _confirm(parish: Carillon, *guests: str) -> None:
    """Let the booking of each guest be confirmed."""
    for guest in guests:
        steps.book(parish, guest.lower(), guest)
        parish.call("POST", f"/bookings/{guest.lower()}/confirm")


def _lift(page: Page, plan: str | re.Pattern[str]) -> None:
    """Choose what becomes of what waits, and let it go."""
    page.get_by_label(plan).check()
    page.get_by_role("button", name="Lift the hold").click()


@contextmanager
def _seeing_all(page: Page, parish: Carillon) -> Iterator[None]:
    """Show all congregations for the length of the block: some things are all's."""
    page.goto(f"{parish.url}/?congregation=")
    try:
        yield
    finally:
        page.goto(f"{parish.url}/?congregation={parish.slug}")


def _is_free_again(page: Page, parish: Carillon) -> None:
    """Lift whatever is held, should a test have ended before it did."""
    page.goto(f"{parish.url}/holds/")
    for link in page.locator("#holds-active td:first-child a").all():
        page.goto(f"{parish.url}{link.get_attribute('href')}")
        _lift(page, re.compile("^Drop "))


def _due(page: Page) -> list[datetime]:
    """Return when the executions of the list are due, the first one first."""
    times = page.locator("#executions tbody td.when time").all()
    told = [each.get_attribute("datetime") or "" for each in times]
    return sorted(datetime.fromisoformat(each) for each in told)


def _pause_means(page: Page, parish: Carillon, lane: str) -> str:
    """Read what a pause of a lane would mean, and leave it."""
    page.goto(f"{parish.url}/lanes/{lane}")
    pause = page.locator("details.confirm", has_text="Pause")
    pause.locator("summary").click()
    told = pause.locator(".confirm-box p")
    expect(told).to_contain_text("It takes nothing new until somebody resumes it")
    pause.locator("summary").click()
    expect(told).to_be_hidden()
    expect(page.locator("#lane-facts .pill")).to_have_text("Running")
    return told.text_content() or ""


def test_before_a_pause_one_reads_what_it_means_and_may_leave_it(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    _confirm(parish, "Ada")
    parish.letters(1)
    with _seeing_all(page, parish):
        lanes = ("scheduled_jobs", "deliveries", "fanout", "email", "executions")
        told = {_pause_means(page, parish, lane) for lane in lanes}
        assert len(told) == len(lanes)
        moved = re.compile(r"It moved \d+ rows? in the last hour\.")
        # A sweep is written down when it has ended, after its mails.
        until(lambda: moved.search(_pause_means(page, parish, "executions")), 20)
    _confirm(parish, "Emil")
    assert len(parish.letters(2)) == 2


def test_a_pause_says_what_it_means_and_ends_with_a_plan(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    sorry = steps.make_rule(page, parish, "Sorry", "booking.declined")
    lane = f"{parish.url}/lanes/executions"
    page.goto(f"{parish.url}/?congregation=")  # a lane is everybody's
    page.goto(lane)
    pause = page.locator("details.confirm", has_text="Pause")
    pause.locator("summary").click()
    expect(pause).to_contain_text("It takes nothing new until somebody resumes it")
    expect(pause).to_contain_text("Mails, webhooks and messages of all rules wait.")
    try:
        pause.get_by_role("button").click()
        _confirm(parish, "Ada", "Emil")
        steps.book(parish, "clara", "Clara")
        parish.call("POST", "/bookings/clara/decline")
        forms.press(page, sorry, f"{sorry}/disable")
        page.goto(lane)
        page.get_by_role("link", name="3 overdue: choose").click()
        told = page.locator("#plan-told")
        expect(told).to_contain_text("3 wait. 2 are still of use.")
        expect(page.locator(".consequences")).to_contain_text("1 would end:")
        expect(page.get_by_label("Spread the 2 of use")).to_be_visible()
        page.get_by_label("Drop all 3").check()
        page.get_by_role("button", name="Resume the lane").click()
        expect(page.locator("#operation-progress .pill").first).to_have_text("Done")
        ours = f"congregation={parish.slug}&state=cancelled"
        page.goto(f"{parish.url}/executions/?{ours}")
        expect(page.locator("#executions tbody tr")).to_have_count(3)
    finally:
        steps.resume(page, parish, "executions")
    assert parish.letters(0) == []


def test_a_lane_goes_on_with_what_waited_spread_over_minutes(
    page: Page, parish: Carillon
) -> None:
    rule = steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    with steps.paused(page, parish, "executions"):
        _confirm(parish, "Ada", "Emil", "Clara", "Dora")
        with _seeing_all(page, parish):
            page.goto(f"{parish.url}/lanes/executions")
            page.get_by_role("link", name="4 overdue: choose").click()
            page.get_by_label("Spread the 4 of use over some minutes").check()
            page.get_by_label("Minutes to spread over").fill("40")
            page.get_by_role("button", name="Resume the lane").click()
            expect(page.locator("#operation-progress .pill").first).to_have_text("Done")
            asked = page.locator("section[aria-labelledby=meant-heading]")
            expect(asked.locator("dt", has_text="Spread over minutes")).to_be_visible()
            expect(asked).to_contain_text("40")
            page.goto(f"{parish.url}/lanes/executions")
            expect(page.locator("#lane-facts .pill")).to_have_text("Running")
        assert len(parish.letters(1)) == 1  # the first goes at once
        pending = page.locator("#executions tbody tr")
        page.goto(f"{parish.url}/executions/?state=pending")
        expect(pending).to_have_count(3)
        expect(pending.filter(has_text="due in")).to_have_count(3)
        first, second, third = _due(page)
        assert third - second == second - first == timedelta(minutes=10)
        assert len(parish.letters(1)) == 1
        # Nothing of it may come to other tests.
        forms.press(page, rule, f"{rule}/disable")


def test_the_kill_switch_says_who_and_why_on_every_page_until_it_is_lifted(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    page.goto(f"{parish.url}/holds/")
    page.get_by_role("link", name="Hold what leaves").click()
    name = f"Parish {parish.slug.rsplit('-', 1)[1]}"
    page.get_by_label("Whose").select_option(label=name)
    page.get_by_label("What").select_option(label="Only rules' mails")
    page.get_by_label("Why").fill("The text names the wrong hall")
    page.get_by_label("Ends").select_option(label="In 4 hours")
    page.get_by_role("button", name="Hold it").click()
    expect(page.locator("#notices")).to_contain_text("Held.")

    _confirm(parish, "Ada", "Emil")
    page.goto(f"{parish.url}/executions/?state=pending")
    banner = page.locator(".hold-banner")
    expect(banner).to_contain_text("ines@example.org says: “The text names the wrong")
    expect(banner).to_contain_text("until")
    expect(page.locator("#executions tbody")).to_contain_text("held")
    banner.get_by_role("link", name="See what waits").click()
    expect(page.locator("#plan-told")).to_contain_text("2 wait. 2 are still of use.")
    assert parish.letters(0) == []
    _lift(page, "Send the 2 of use now")
    assert len(parish.letters(2)) == 2
    page.goto(f"{parish.url}/rules/")
    expect(banner).to_have_count(0)


def test_one_rule_is_held_while_all_others_go_on(page: Page, parish: Carillon) -> None:
    welcome = steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    steps.make_rule(page, parish, "Guide", "booking.confirmed")
    page.goto(welcome)
    page.get_by_role("link", name="Hold", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hold the rule “Welcome”")
    page.get_by_label("Why").fill("Its text names the wrong hall")
    page.get_by_role("button", name="Hold it").click()
    _confirm(parish, "Ada")
    [mail] = parish.letters(1)
    assert mail.subject == "Guide Ada"

    page.goto(f"{parish.url}/executions/?state=pending")
    row = page.locator("#executions tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("Welcome")
    expect(row).to_contain_text("held")
    page.goto(welcome)
    banner = page.locator(".hold-banner")
    expect(banner).to_contain_text("Its text names the wrong hall")
    banner.get_by_role("link", name="See what waits").click()
    _lift(page, "Send the one of use now")
    assert {each.subject for each in parish.letters(2)} == {"Guide Ada", "Welcome Ada"}


def _n_held(page: Page) -> int:
    """Look again how many executions of the list say who holds them, and why."""
    page.reload()
    rows = page.locator("#executions tbody tr")
    why = "Held by ines@example.org: The mail server moves"
    return rows.filter(has_text=why).count()


def test_a_hold_of_everything_keeps_it_in_the_house_until_it_is_lifted(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    banner = page.locator(".hold-banner")
    with _seeing_all(page, parish):
        page.goto(f"{parish.url}/holds/new")
        page.get_by_label("Whose").select_option(label="All congregations")
        page.get_by_label("What").select_option(label="Everything that leaves")
        page.get_by_label("Why").fill("The mail server moves")
        page.get_by_label("Ends").select_option(label="In 1 hour")
        expect(page.locator(".consequences")).to_contain_text("use up no try")
        try:
            page.get_by_role("button", name="Hold it").click()
            expect(page.locator("#notices")).to_contain_text("Held.")
            _confirm(parish, "Ada", "Emil")
            page.goto(f"{parish.url}/executions/?state=pending")
            expect(banner).to_contain_text("ines@example.org says: “The mail server")
            expect(banner).to_contain_text(re.compile(r"until .*\d\d:\d\d"))
            until(lambda: _n_held(page) == 2, 20, every=0.3)
            assert parish.letters(0) == []
            for path in ("", "rules/", "lanes/"):
                page.goto(f"{parish.url}/{path}")
                expect(banner).to_have_count(1)
            banner.get_by_role("link", name="See what waits").click()
            _lift(page, "Send the 2 of use now")
            assert len(parish.letters(2)) == 2
        finally:
            _is_free_again(page, parish)
        page.goto(f"{parish.url}/executions/?state=succeeded")
        expect(banner).to_have_count(0)


def test_a_rule_that_went_mad_is_held_until_somebody_has_seen_samples(
    page: Page, parish: Carillon
) -> None:
    rule = steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    volume = f"{parish.url}/holds/volume/{rule.rsplit('/', 1)[1]}"
    forms.send(page, volume, mode="number", hold_above="1")
    _confirm(parish, "Ada", "Emil")
    banner = page.locator(".hold-banner")

    def is_held() -> bool:
        steps.sweep(page, parish, "volumes")
        page.goto(parish.url)
        return banner.count() > 0

    until(is_held, 40, every=0.5)
    expect(banner).to_contain_text("Unusual volume")
    steps.book(parish, "clara", "Clara", timedelta(days=5))
    parish.call("POST", "/bookings/clara/confirm")
    banner.get_by_role("link", name="Look and decide").click()
    expect(page.get_by_role("heading", name="Approve, or drop")).to_be_visible()
    samples = page.locator("ul.deeds")

    def are_shown() -> bool:
        page.reload()
        return samples.filter(has_text="Welcome: Clara").count() > 0

    until(are_shown, 40, every=0.5)
    expect(samples).to_contain_text(f"clara{parish.guests_domain}")
    # On a busy machine the hold may come before the first mails have left.
    _lift(page, re.compile(r"Send the (?:one|[23]) of use now"))
    assert len(parish.letters(3)) == 3
