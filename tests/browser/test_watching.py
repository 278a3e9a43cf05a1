"""Watching: charts, budgets of lateness, and warnings that come by mail."""

from __future__ import annotations

import re
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
    steps.fail(page, parish, "b1", "b2")
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
