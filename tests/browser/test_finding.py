"""Finding: what one looks for in lists, by which words, and how to come back to it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import steps
from tests.browser.house import House
from tests.browser.installation import Carillon
from tests.support.processes import until

#: More than one page of a list has.
GUESTS = [f"Guest {number:02d}" for number in range(1, 58)]
#: A spreadsheet would take this name for a formula.
FORMULA = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def full(house: House, chromium: Browser) -> Iterator[Carillon]:
    """Return a congregation whose rule has written to many guests, one in vain."""
    context = chromium.new_context()
    page = context.new_page()
    with house.parish(page) as parish:
        steps.make_rule(page, parish, "24h reminder", "booking.confirmed")
        steps.make_rule(page, parish, "Sorry", "booking.declined")
        parish.mails.refuse("rcpt", "550 5.1.1 No such mailbox", times=1)
        for number, guest in enumerate([FORMULA, *GUESTS]):
            steps.book(parish, f"b{number}", guest)
        parish.call("POST", "/bookings/b0/decline")
        until(lambda: _n_executions(parish, "failed") == 1, 20, every=0.1)
        parish.call("POST", "/events", [_confirmed(n + 1) for n in range(len(GUESTS))])
        until(lambda: _n_executions(parish, "succeeded") == len(GUESTS), 60, every=0.2)
        yield parish
    context.close()


def _confirmed(number: int) -> dict[str, str]:
    about = {"podcast_id": "show", "booking_id": f"b{number}"}
    return {"trigger_type": "booking.confirmed", **about}


def _n_executions(parish: Carillon, state: str) -> int:
    found = parish.call("GET", f"/executions?state={state}&limit=200")
    return len(found["executions"])


@pytest.fixture
def listed(page: Page, house: House, full: Carillon) -> Page:
    """Return a page that shows the list of executions."""
    house.log_in(page)
    house.choose(page, full.slug)
    page.goto(f"{full.url}/executions/")
    return page


def rows(page: Page) -> list[str]:
    """Return whom the rows of the list are about."""
    return page.locator("#executions tbody .what small a").all_inner_texts()


def search(page: Page, words: str) -> None:
    page.get_by_label("Search").fill(words)
    # A key, unlike a click, does not wait for the page that it leads to.
    with page.expect_navigation():
        page.get_by_label("Search").press("Enter")


def test_words_are_found_and_the_address_shows_the_same_to_others(
    listed: Page,
) -> None:
    search(listed, "guest 07")
    expect(listed).to_have_url(re.compile(r"q=guest"))
    expect(listed.locator("#executions tbody tr")).to_have_count(1)
    assert rows(listed) == ["Guest 07"]

    other = listed.context.new_page()
    other.goto(listed.url)
    assert rows(other) == ["Guest 07"]
    other.go_back()


def test_a_field_is_completed_and_narrows_by_chips_that_are_taken_away(
    listed: Page,
) -> None:
    box = listed.get_by_label("Search")
    box.fill("sta")
    offered = listed.locator("#q-options option")
    expect(offered.first).to_have_attribute("value", "state:")
    box.fill("state:f")
    expect(offered.first).to_have_attribute("value", "state:failed")

    search(listed, "state:failed rule:sorry guest:hyper error:mailbox due:<+1d")
    chips = listed.locator(".chips .chip")
    expect(chips).to_have_count(4)  # the state is on the tab
    expect(listed.locator("#executions-tabs [aria-current]")).to_contain_text("Failed")
    assert rows(listed) == [FORMULA]
    listed.get_by_role("link", name="Clear", exact=True).click()
    search(listed, 'rule:"24h reminder" -guest:07 guest:"guest 0"')
    assert len(rows(listed)) == 8
    chips.filter(has_text="not").click()
    expect(chips).to_have_count(2)
    assert len(rows(listed)) == 9
    expect(box).to_have_value('rule:"24h reminder" guest:"guest 0"')


def test_a_search_that_cannot_be_read_says_why_and_stays_to_be_mended(
    listed: Page,
) -> None:
    search(listed, "state:broken")
    expect(listed.get_by_role("alert")).to_contain_text("broken")
    search(listed, "state:failed")
    assert rows(listed) == [FORMULA]


def test_pages_follow_each_other_though_new_rows_come_and_numbers_are_exact(
    listed: Page, full: Carillon
) -> None:
    all_ = [*reversed(GUESTS), FORMULA]
    tab = listed.locator("#executions-tabs a", has_text="Succeeded")
    expect(tab.locator(".count")).to_have_text(str(len(GUESTS)))
    first = rows(listed)
    assert sorted(first, reverse=True) == all_[:50]

    steps.book(full, "late", "Late")
    full.call("POST", "/bookings/late/decline")
    newer = listed.get_by_role("link", name="1 new: show it")
    expect(newer).to_be_visible(timeout=30_000)
    assert rows(listed) == first
    listed.get_by_role("link", name="Next").click()
    expect(listed).to_have_url(re.compile("cursor="))
    assert sorted(first + rows(listed), reverse=True) == all_
    listed.get_by_role("link", name="Previous").click()
    expect(listed.get_by_role("link", name="Next")).to_be_visible()
    assert rows(listed)[-1] == first[-1]


def test_a_search_is_kept_for_all_with_its_number_in_the_menu_and_a_warning(
    listed: Page,
) -> None:
    search(listed, "state:failed guest:hyper")
    listed.get_by_role("link", name="Save this search").click()
    listed.get_by_label("Name").fill("Bounced")
    listed.get_by_label("Who sees it").select_option(label="Everybody who may log in")
    listed.get_by_label("Warn from so many rows").fill("1")
    listed.get_by_role("button", name="Save the view").click()

    in_menu = listed.locator("#menu-views a", has_text="Bounced")
    expect(in_menu.locator(".count")).to_contain_text("1")
    expect(in_menu).to_have_attribute("data-alarming", "")
    listed.goto(listed.url.split("/executions")[0] + "/rules/")
    with listed.expect_navigation():  # a click does not always wait for its page
        in_menu.click()
    assert rows(listed) == [FORMULA]

    listed.get_by_role("link", name="Views", exact=True).click()
    row = listed.locator("#views tr", has_text="Bounced")
    expect(row).to_contain_text("Everybody")
    row.get_by_role("link", name="Change").click()
    steps.do_confirmed(listed, "Delete")
    expect(in_menu).to_have_count(0)


def _kept_as(page: Page, name: str, audience: str) -> None:
    """Keep the search of the list that is open."""
    page.get_by_role("link", name="Save this search").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Who sees it").select_option(label=audience)
    page.get_by_role("button", name="Save the view").click()
    expect(page.locator("#menu-views a", has_text=name)).to_be_visible()


def test_a_view_of_ones_own_is_seen_by_nobody_else_and_a_shared_one_counts_for_each(
    listed: Page, colleague: Page, house: House, full: Carillon
) -> None:
    search(listed, f"state:failed guest:hyper congregation:{full.slug}")
    _kept_as(listed, "Mine alone", "Only me")
    # Other tests of this congregation may have let the other rule act, too.
    search(listed, f"state:succeeded rule:24h congregation:{full.slug}")
    _kept_as(listed, "All that went out", "Everybody who may log in")

    house.choose(colleague, full.slug)  # another test may have chosen another one
    colleague.goto(full.url)
    menu = colleague.locator("#menu-views a")
    expect(menu.filter(has_text="All that went out")).to_contain_text(str(len(GUESTS)))
    expect(menu.filter(has_text="Mine alone")).to_have_count(0)
    menu.filter(has_text="All that went out").click()
    expect(colleague.locator("#executions tbody tr")).to_have_count(50)
    colleague.goto(f"{full.url}/views/")
    row = colleague.locator("#views tr", has_text="All that went out")
    expect(row).to_contain_text("made by ines@example.org")

    listed.goto(f"{full.url}/views/")
    for name in ("Mine alone", "All that went out"):
        row = listed.locator("#views tr", has_text=name)
        row.get_by_role("link", name="Change").click()
        steps.do_confirmed(listed, "Delete")


def test_what_a_list_shows_goes_into_a_file_and_the_log_tells_who_took_it(
    listed: Page, full: Carillon
) -> None:
    search(listed, "state:failed guest:hyper")
    listed.get_by_role("link", name="Export").click()
    with listed.expect_download() as taken:
        listed.get_by_role("button", name="CSV: 1 execution").click()
    text = Path(taken.value.path()).read_text(encoding="utf-8-sig")
    [row] = csv.DictReader(io.StringIO(text))
    assert (row["guest"], row["state"]) == (f"'{FORMULA}", "failed")
    with listed.expect_download() as taken:
        listed.get_by_role("button", name="JSON: 1 execution").click()
    told = json.loads(Path(taken.value.path()).read_text(encoding="utf-8"))
    assert [each["guest"] for each in told["rows"]] == [FORMULA]

    listed.goto(f"{full.url}/audit/")
    entry = listed.locator("main li", has_text="xported 1 execution").first
    expect(entry).to_contain_text("ines@example.org")
