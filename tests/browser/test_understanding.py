"""Understanding: what is wrong or late, why it waits, what was and what comes."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID

from playwright.sync_api import Page, expect
from sqlalchemy import make_url

from tasks.clock import utcnow
from tasks.db import make_engine, sessions
from tasks.models import Measure, Rule
from tasks.rollups.adding import add
from tasks.rollups.counting import Place
from tests.browser import forms, steps
from tests.browser.installation import Carillon
from tests.support.processes import until
from tests.support.smtp_sink import Mail

#: It is tried again after so long that a test can look at it meanwhile.
PATIENT = {"max_attempts": "3", "retry_first_seconds": "3600"}


def _fail(page: Page, parish: Carillon, booking: str = "b1") -> None:
    """Let a mail of the rule "Welcome" fail for good."""
    parish.mails.refuse("rcpt", "550 5.7.1 Not from you")
    steps.book(parish, booking, "Ada")
    parish.call("POST", f"/bookings/{booking}/confirm")
    steps.find(page, f"{parish.url}/executions/?state=failed", "Welcome")
    parish.mails.behave()


def test_the_first_page_tells_what_is_wrong_what_is_late_and_what_is_next(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    _fail(page, parish)
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
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    _fail(page, parish)
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
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    for booking in ("b1", "b2"):
        _fail(page, parish, booking)
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

    _fail(page, parish, "b3")  # it goes on failing, and asks for nobody till then
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
        ("Reminder", "Cancel", "It will not happen."),
        ("Directions", "Run now", "carried out now instead of at its time"),
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


def test_charts_of_a_rule_mark_its_changes_and_are_told_in_words_and_numbers(
    page: Page, parish: Carillon
) -> None:
    rule = steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    forms.send(page, f"{rule}/edit", subject="Good day {{ guest.name }}")
    steps.book(parish, "b1", "Ada")
    parish.call("POST", "/bookings/b1/confirm")
    parish.letters(1)
    charts = page.locator("#charts")
    ended = charts.get_by_role("img").first

    def is_counted() -> bool:
        steps.sweep(page, parish, "rollups")
        page.goto(rule)
        return ended.count() > 0

    until(is_counted, 30, every=0.3)
    for period, title in (("24h", "24 hours"), ("7d", "7 days"), ("30d", "30 days")):
        page.goto(f"{rule}?period={period}")
        words = f"1 ended in {title}, of which 0 failed"
        expect(ended).to_have_attribute("aria-label", re.compile(words))
    expect(charts).to_contain_text("the rule was changed (version 2)")
    for quantile in ("p50", "p95", "p99"):
        expect(charts.locator(".chart-legend").nth(1)).to_contain_text(quantile)
    charts.locator("summary", has_text="The numbers").click()
    expect(charts.locator("table tbody tr")).to_have_count(1)


def test_a_lateness_budget_is_set_and_its_burn_is_shown(
    page: Page, parish: Carillon
) -> None:
    page.goto(steps.make_rule(page, parish, "Welcome", "booking.confirmed"))
    budget = page.locator("#budget")
    expect(budget).to_contain_text("None is set.")
    budget.get_by_label("How many").select_option(label="95 %")
    budget.get_by_label("Begin within").select_option(value="60")
    budget.get_by_role("button", name="Save the budget").click()
    expect(budget).to_contain_text("are to begin within")
    expect(budget).to_contain_text("Admins are told by mail before that is broken.")
    expect(budget).to_contain_text("nothing began")


def test_a_lane_shows_the_age_of_the_oldest_its_charts_and_its_own_budget(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    page.goto(f"{parish.url}/?congregation=")  # a lane is everybody's
    lane = f"{parish.url}/lanes/executions"
    facts = page.locator("#lane-facts")
    with steps.paused(page, parish, "executions"):
        steps.book(parish, "b1", "Ada")
        parish.call("POST", "/bookings/b1/confirm")
        page.goto(lane)
        expect(facts).to_contain_text("1 due")
        expect(facts).to_contain_text("oldest")
    parish.letters(1)
    ended = page.locator("#charts").get_by_role("img").first

    def is_counted() -> bool:
        steps.sweep(page, parish, "rollups")
        page.goto(lane)
        return ended.count() > 0

    until(is_counted, 30, every=0.3)
    expect(ended).to_have_attribute("aria-label", re.compile("ended in 24 hours"))
    for measure in (1, 2):  # how long it waited, and how long it took
        legend = page.locator("#charts .chart-legend").nth(measure)
        for quantile in ("p50", "p95", "p99"):
            expect(legend).to_contain_text(quantile)

    budget = page.locator("#budget")
    budget.get_by_label("How many").select_option(label="95 %")
    budget.get_by_role("button", name="Save the budget").click()
    expect(budget).to_contain_text("95 % are to begin within 1 min after")
    expect(budget.locator("dd").first).to_contain_text("were late")
    budget.get_by_label("How many").select_option(label="no budget")
    budget.get_by_role("button", name="Save the budget").click()
    expect(budget).to_contain_text("None is set.")


def _count_waits(parish: Carillon, rule: str, n_in_time: int, n_late: int) -> None:
    """Count what began within a second, and what began after an hour."""
    engine = make_engine(make_url(f"sqlite:///{parish.database}"))
    hour = utcnow().replace(minute=0, second=0, microsecond=0)
    with sessions(engine).begin() as session:
        found = session.get_one(Rule, UUID(rule.rsplit("/", 1)[1]))
        place = Place(found.congregation_id, "executions", found.id, hour, 0)
        waits = {Measure.WAIT + 6: n_in_time, Measure.WAIT + 15: n_late}
        add(session, {place._replace(measure=m): n for m, n in waits.items()})
    engine.dispose()


def _told(parish: Carillon, page_of: str) -> list[Mail]:
    """Return the mails to the admin that name a page of the console."""
    to = "ines@example.org"
    mails = [each for each in [*parish.mails.mails] if each.recipients == [to]]
    return [each for each in mails if page_of in each.message.as_string()]


def test_a_budget_warns_here_and_by_mail_before_it_breaks(
    page: Page, parish: Carillon
) -> None:
    rule = steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    page.goto(rule)
    budget = page.locator("#budget")
    budget.get_by_label("How many").select_option(label="95 %")
    budget.get_by_label("Begin within").select_option(value="60")
    expect(budget.get_by_label("Also by mail")).to_be_checked()
    budget.get_by_role("button", name="Save the budget").click()

    _count_waits(parish, rule, 24, 1)
    page.reload()
    day = budget.locator("dd").first
    expect(day).to_contain_text("80 % used: 1 of 25 were late, 1.2 may be")
    expect(day.locator(".pill")).to_have_text("Nearly used up")
    expect(day.get_by_label("Used up in 24 hours")).to_have_js_property("value", 0.8)
    steps.sweep(page, parish, "rollups")
    (mail,) = until(lambda: _told(parish, rule), 40)
    assert mail.subject == "“Welcome” has nearly used up its lateness budget"
    page.goto(parish.url)
    tile = page.locator(".tile", has_text="Lateness budget")
    expect(tile).to_contain_text("Welcome")
    tile.click()

    _count_waits(parish, rule, 0, 1)
    page.reload()
    expect(day.locator(".pill")).to_have_text("Broken")
    budget.get_by_label("Also by mail").uncheck()
    budget.get_by_role("button", name="Save the budget").click()
    expect(budget).to_contain_text("Nobody is told by mail; the first page warns.")


def test_a_view_that_warns_is_mailed_once_with_a_way_to_its_rows(
    page: Page, parish: Carillon
) -> None:
    steps.make_rule(page, parish, "Welcome", "booking.confirmed")
    for booking in ("b1", "b2"):
        _fail(page, parish, booking)
    page.goto(f"{parish.url}/executions/?q=state:failed+congregation:{parish.slug}")
    page.get_by_role("link", name="Save this search").click()
    page.get_by_label("Name").fill("Broken mails")
    page.get_by_label("Also by mail").check()
    page.get_by_role("button", name="Save the view").click()
    expect(page.locator("main")).to_contain_text(
        "Say above from how many rows on it warns."
    )
    page.get_by_label("Warn from so many rows").fill("2")
    page.get_by_role("button", name="Save the view").click()
    expect(page.locator("#executions tbody tr")).to_have_count(2)
    page.goto(f"{parish.url}/views/")
    expect(page.locator("#views")).to_contain_text("2 also by mail")

    steps.sweep(page, parish, "rollups")
    (mail,) = until(lambda: _told(parish, "/views/"), 60)
    assert mail.subject == "The view “Broken mails” warns"
    text = mail.message.get_body(("plain",))
    assert text is not None
    way = re.search(r"http\S+/views/\S+/rows", text.get_content())
    assert way
    page.goto(way[0])
    expect(page.locator("#executions tbody tr")).to_have_count(2)
