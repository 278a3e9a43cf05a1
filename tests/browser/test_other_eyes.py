"""The console for others: a wide window, a phone, colours of one's own, and paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.demo.people import LOGIN, PASSWORD
from tests.browser import steps
from tests.browser.fingers import too_small
from tests.browser.installation import Carillon

#: The pages that an operator looks at most.
PAGES: Final = (
    "/",
    "/executions/",
    "/failures/",
    "/scheduled/",
    "/agenda/",
    "/events/",
    "/rules/",
    "/rules/new",
    "/lanes/",
    "/lanes/executions",
)
#: Letters in the longest line of a text.
_LETTERS_MAX: Final = 100
_LONGEST: Final = """() => {
  let longest = "";
  for (const text of document.querySelectorAll("main p, main ul:not([class]) > li")) {
    const words = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    const lines = new Map();
    for (let node = words.nextNode(); node; node = words.nextNode()) {
      for (const word of node.data.matchAll(/\\S+\\s*/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].trimEnd().length);
        const top = Math.round(range.getBoundingClientRect().bottom / 8);
        lines.set(top, (lines.get(top) || "") + word[0]);
      }
    }
    for (const line of lines.values()) if (line.length > longest.length) longest = line;
  }
  return longest.trim();
}"""
#: What has a tone and says nothing beside it: neither words nor a name, nor around it.
_MUTE: Final = """() => [...document.querySelectorAll("main [data-tone]")]
  .filter((one) => !one.textContent.trim() && !one.closest("[aria-label], [title]"))
  .map((one) => one.outerHTML.slice(0, 120))"""

#: Pills without a picture or a line around them.
_BARE: Final = """() => [...document.querySelectorAll(".pill")]
  .filter((one) => !one.querySelector("svg")
                   || getComputedStyle(one).borderStyle !== "solid")
  .map((one) => one.outerHTML.slice(0, 120))"""


#: Lists that are wider than their box, so that their last column is out of sight.
_CUT: Final = """() => [...document.querySelectorAll("main .table-box")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent.trim().replace(/\\s+/g, " ").slice(0, 60))"""


#: Addresses of recipients that are shown in part only.
_SHORTENED: Final = """() => [
    ...document.querySelectorAll(".to .recipient > span:last-child")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1
                   || one.scrollHeight > one.clientHeight + 1)
  .map((one) => one.textContent)"""


@contextmanager
def _logged_in(chromium: Browser, url: str, **wishes: Any) -> Iterator[Page]:
    context = chromium.new_context(base_url=url, reduced_motion="reduce", **wishes)
    page = context.new_page()
    page.goto("/login")
    # In any language.
    page.locator("input[type=email]").fill(LOGIN)
    page.locator("input[type=password]").fill(PASSWORD)
    page.locator("input[type=password]").press("Enter")
    page.wait_for_url("**/")
    yield page
    context.close()


def test_a_wide_window_is_filled_and_no_line_grows_too_long(
    chromium: Browser, demo_url: str
) -> None:
    window = {"width": 2560, "height": 1440}
    with _logged_in(chromium, demo_url, viewport=window) as page:
        for path in PAGES:
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 2560, path
            assert len(page.evaluate(_LONGEST)) <= _LETTERS_MAX, path


def test_no_list_hides_its_last_column(chromium: Browser, demo_url: str) -> None:
    window = {"width": 1280, "height": 900}
    # French is the longer language.
    with _logged_in(chromium, demo_url, viewport=window, locale="fr-FR") as page:
        for path in (*PAGES, "/outreach/", "/notifications/", "/webhooks/deliveries"):
            page.goto(path)
            assert page.evaluate(_CUT) == [], path


@pytest.mark.parametrize("width", [834, 1024, 1060, 1246, 1280, 1440, 1920])
def test_lists_divide_any_width_so_that_addresses_are_whole(
    chromium: Browser, demo_url: str, width: int
) -> None:
    window = {"width": width, "height": 900}
    with _logged_in(chromium, demo_url, viewport=window, locale="fr-FR") as page:
        for path in ("/executions/", "/executions/?state=quarantined", "/scheduled/"):
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate(_CUT) == [], path
            assert page.evaluate(_SHORTENED) == [], path


def test_names_of_one_long_word_widen_no_page(page: Page, parish: Carillon) -> None:
    word = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamten"
    about = {"guest_name": word, "guest_email": "ada@example.org"}
    parish.call("PUT", "/podcasts/show", {"title": word})
    when = {"start_time": "2031-03-04T12:00:00Z", "podcast_id": "show"}
    parish.call("PUT", "/bookings/long", about | when)
    rule = steps.make_rule(page, parish, word, "booking.confirmed")
    parish.call("POST", "/bookings/long/confirm")
    steps.find(page, f"{parish.url}/executions/", word)
    paths = ("/executions/", "/events/", "/rules/", "/why/")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for address in (rule, *(f"{parish.url}{path}" for path in paths)):
            page.goto(address)
            shown = page.evaluate("document.documentElement.scrollWidth")
            assert shown <= width, address
            assert page.evaluate(_CUT) == [], address


def test_states_and_places_are_told_without_colours(
    chromium: Browser, demo_url: str
) -> None:
    with _logged_in(chromium, demo_url, forced_colors="active") as page:
        for path in (*PAGES, "/webhooks/", "/campaigns/", "/styleguide/"):
            page.goto(path)
            assert page.evaluate(_MUTE) == [], path
        page.goto("/lanes/executions")
        for current in (".sections", ".periods"):
            outline = "one => getComputedStyle(one).outlineStyle"
            here = page.locator(f"{current} a[aria-current]")
            assert here.evaluate(outline) == "solid", current
        page.goto("/styleguide/")
        assert page.evaluate(_BARE) == []


def test_a_timeline_is_printed_with_its_times_and_nothing_to_press(
    chromium: Browser, demo_url: str
) -> None:
    paper = {"width": 680, "height": 960}  # A4 without its margins
    with _logged_in(chromium, demo_url, viewport=paper, color_scheme="dark") as page:
        page.goto("/executions/")
        found = re.search(
            r'href="(/congregations/[^"]+/bookings/[^"/?]+)"', page.content()
        )
        assert found
        page.goto(found[1])
        page.emulate_media(media="print")
        for gone in (".topbar", ".sidebar", "main .btn >> nth=0"):
            expect(page.locator(gone)).to_be_hidden()
        paint = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(paint) == "rgb(255, 255, 255)"
        times = page.locator(".timeline time")
        told = "one => getComputedStyle(one, '::after').content"
        assert re.search(r"\d{4}, \d\d:\d\d:\d\d", times.first.evaluate(told))
        row = page.locator(".timeline > li").first
        when, what = row.locator(".timeline-when"), row.locator(".timeline-what")
        left, right = when.bounding_box(), what.bounding_box()
        assert left
        assert right
        assert left["x"] + left["width"] <= right["x"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 680


def test_rows_can_be_acted_on_with_a_finger(chromium: Browser, demo_url: str) -> None:
    phone = {"width": 390, "height": 844}
    with _logged_in(chromium, demo_url, viewport=phone) as page:
        for path in ("/scheduled/", "/executions/?state=failed"):
            page.goto(path)
            actions = page.locator("tbody .row-actions").first
            expect(actions.locator("summary, button").first).to_be_visible()


def test_every_list_counts_on_its_buttons_what_is_ticked(
    chromium: Browser, demo_url: str
) -> None:
    with _logged_in(chromium, demo_url) as page:
        for path in (
            "/executions/?state=failed",
            "/scheduled/",
            "/failures/",
            "/outreach/",
        ):
            page.goto(path)
            for more in page.locator("details.bulk-more > summary").all():
                more.click()
            button = page.locator("[data-selected]").first
            expect(button, path).to_be_disabled()
            page.locator("[data-select-all]").check()
            n_ticked = page.locator("input[name=id]:checked").count()
            expect(button, path).to_contain_text(f"({n_ticked})")


def test_nothing_is_smaller_than_a_finger(chromium: Browser, demo_url: str) -> None:
    phone = {"width": 390, "height": 844}
    with _logged_in(chromium, demo_url, viewport=phone) as page:
        # test_screens.py asks the same of every other page.
        for path in (*PAGES, "/campaigns/", "/outreach/"):
            page.goto(path)
            assert too_small(page) == [], path


def test_what_is_smaller_than_a_finger_is_found(page: Page) -> None:
    page.set_content(
        """
        <style>
          a { font-size: 12px; line-height: 15px }
          input { display: block; width: 15px; height: 15px; margin: 40px }
          .high { display: inline-block; line-height: 24px }
          .airy { position: relative }
          .airy::before { content: ""; position: absolute; inset: -5px }
        </style>
        <a href="/low">too low</a> <a class="high" href="/high">high enough</a>
        <a href="/twin">too low</a> <a class="high" href="/twin">its twin</a>
        <p>A sentence of some words has <a href="/in-sentence">a link</a> in it.</p>
        <p><a href="/alone">Alone</a></p>
        <button style="width: 20px; height: 40px">x</button>
        <button class="airy" style="width: 20px; height: 20px">x</button>
        <input type="checkbox" id="bare">
        <label style="display: block; padding: 20px"><input type="checkbox"></label>
        """
    )

    found = "\n".join(too_small(page))

    assert found.count("\n") == 3
    for small in ('"/low"', '"/alone"', "width: 20px; height: 40px", 'id="bare"'):
        assert small in found
