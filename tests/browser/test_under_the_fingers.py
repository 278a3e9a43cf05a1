"""The console by keyboard, while it refreshes by itself, and for assistive tools."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from dashboard.demo.people import LOGIN, PASSWORD
from tests.support.processes import until

#: Polls of the page of lanes; an hour has 1 200 of them, and each does the same.
POLLS = 60
EVERY = 3_000  # ms, of the page of lanes


@pytest.fixture(scope="module")
def operator(chromium: Browser, demo_url: str) -> Iterator[BrowserContext]:
    """Return a browser whose operator logged in by keyboard."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 700},
        base_url=demo_url,
        timezone_id="Asia/Tokyo",
    )
    page = context.new_page()
    page.goto("/login")
    page.keyboard.type(LOGIN)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(operator: BrowserContext) -> Iterator[Page]:
    opened = operator.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.close()
    assert not complaints


def keys(page: Page, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


def hears(page: Page) -> None:
    """Wait until the page that came by a key hears keys itself."""
    expect(page.get_by_role("button", name="Keys")).to_be_visible()


#: The id of the row that has the focus.
_ROW = "document.activeElement.closest('tbody tr')?.id"


def _failed(page: Page) -> str:
    """Open the list of what failed, go to its second row, and return its id."""
    page.goto("/executions/?state=failed")
    keys(page, "j", "j")
    return str(page.evaluate(_ROW))


def test_a_button_pressed_in_a_row_leaves_one_at_the_row(page: Page) -> None:
    pressed = _failed(page)
    beside = page.locator(f"#{pressed} + tr").get_attribute("id")
    retry = page.locator(f"#{pressed}").get_by_role("button", name="Retry")
    while not retry.evaluate("node => node === document.activeElement"):
        keys(page, "Tab")
    keys(page, "Enter")
    expect(page.locator("#notices")).to_contain_text("Queued for another try.")
    hears(page)

    # It failed again already, or it is not in this list any more.
    assert page.evaluate(_ROW) in {pressed, beside}


def test_buttons_in_rows_say_of_what_they_are(page: Page) -> None:
    for path, name in (("/executions/?state=failed", "Retry"), ("/rules/", "Disable")):
        page.goto(path)
        row = page.locator("tbody tr", has=page.get_by_role("button", name=name)).first
        of = row.locator("a[id$=-link]").inner_text()
        button = row.get_by_role("button", name=name)
        expect(button, path).to_have_accessible_description(of)
    page.goto("/scheduled/")
    row = page.locator("#scheduled tbody tr").first
    verbs = row.get_by_role("group", name=row.locator("a[id$=-link]").inner_text())
    expect(verbs.locator("details.confirm > summary")).to_have_count(2)


def test_a_button_pressed_elsewhere_leads_to_what_is_said_of_it(page: Page) -> None:
    _failed(page)
    keys(page, "Enter")
    expect(page.locator("#execution-detail")).to_be_visible()
    hears(page)
    keys(page, "Tab", "Enter")  # past the menu
    retry = page.get_by_role("button", name="Retry", exact=True)
    while not retry.evaluate("node => node === document.activeElement"):
        keys(page, "Tab")
    keys(page, "Enter")

    said = page.locator("#notices .notice")
    expect(said).to_be_focused()
    expect(said).to_have_css("outline-style", "solid")
    page.goto("/executions/?state=failed")  # a press of a mouse moves nothing
    page.locator("#executions").get_by_role("button", name="Retry").first.click()
    expect(said).to_be_visible()
    expect(page.locator("body")).to_be_focused()


def test_who_came_from_elsewhere_goes_up_to_the_row(page: Page) -> None:
    page.goto("/")
    first = page.locator("#what-fails a").first
    address = first.get_attribute("href")
    while not first.evaluate("node => node === document.activeElement"):
        keys(page, "j")
    keys(page, "Enter")
    page.wait_for_url(f"**{address}")
    hears(page)
    keys(page, "u")
    page.wait_for_url("**/failures/")

    expect(page.locator(f'#failures a[href="{address}"]')).to_be_focused()


def test_the_morning_round_needs_no_mouse(page: Page) -> None:
    page.goto("/")
    keys(page, "?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    for _ in range(6):
        keys(page, "Tab")
        assert page.evaluate(
            "document.activeElement === document.body ||"
            " !!document.activeElement.closest('dialog')"
        )
    keys(page, "Escape")
    expect(dialog).to_be_hidden()

    keys(page, "g", "e")
    expect(page.get_by_role("heading", level=1)).to_have_text("Executions")
    hears(page)
    keys(page, "/")
    keys(page, "j")  # it is written, and moves nothing
    box = page.locator("main [data-search]")
    expect(box).to_have_value("j")
    expect(box).to_be_focused()
    keys(page, "Backspace", "Escape", "j", "j", "j", "k")
    second = page.locator("#executions tbody tr").nth(1)
    link = second.locator("a[id$=-link]")
    expect(link).to_be_focused()
    name = link.get_attribute("id")
    keys(page, "Enter")
    expect(page.locator("#execution-detail")).to_be_visible()
    hears(page)
    keys(page, "u")
    expect(page.locator(f"#{name}")).to_be_focused(timeout=15_000)


def test_who_comes_back_is_at_their_row_though_a_picture_is_still_on_its_way(
    page: Page,
) -> None:
    def with_slow_picture(route: Route) -> None:
        answer = route.fetch()
        slow = answer.text().replace("</main>", '<img src="/slow" alt=""></main>')
        route.fulfill(response=answer, body=slow)

    page.goto("/executions/?state=failed")
    keys(page, "j", "j")
    link = page.locator("#executions tbody tr").nth(1).locator("a[id$=-link]")
    expect(link).to_be_focused()
    keys(page, "Enter")
    expect(page.locator("#execution-detail")).to_be_visible()
    hears(page)
    page.route("**/slow", lambda _route: None)  # it is never answered
    page.route("**/executions/?state=failed", with_slow_picture)
    keys(page, "u")
    expect(link).to_be_focused()


def test_a_row_is_selected_by_key_and_keys_can_be_switched_off(page: Page) -> None:
    page.goto("/executions/?state=failed")
    box = page.locator("#executions tbody tr").first.locator("input[type=checkbox]")
    keys(page, "j", "x")
    expect(box).to_be_checked()
    expect(page.locator("[data-selected]")).to_contain_text("(1)")

    keys(page, "?")
    page.get_by_label("Single keys act.").uncheck()
    keys(page, "Escape", "x", "g", "l")
    expect(box).to_be_checked()
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single keys act.").check()


def poll(page: Page) -> None:
    with page.expect_response(lambda answer: "/lanes/" in answer.url):
        page.clock.run_for(EVERY)


def test_the_refresh_disturbs_nobody_and_can_be_paused(page: Page) -> None:
    asked: list[str] = []
    page.clock.install()
    page.goto("/lanes/")
    page.on("request", lambda request: asked.append(request.url))
    words = page.locator("[data-refresh-words]")
    expect(words).to_have_text("Updated just now")
    page.evaluate(
        "scrollTo({top: 120, behavior: 'instant'});"
        "kept = document.querySelector('main tbody tr');"
        "focused = document.querySelectorAll('main tbody a')[3];"
        "focused.focus({preventScroll: true}); y = scrollY"
    )
    poll(page)
    poll(page)
    assert page.evaluate("kept.isConnected && document.activeElement === focused")
    assert page.evaluate("scrollY === y")

    page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
    before = len(asked)
    page.clock.run_for(2 * EVERY)
    expect(words).to_contain_text("Waits for you")
    assert len(asked) == before
    page.evaluate("getSelection().removeAllRanges()")

    page.get_by_role("button", name="Pause").click()
    before = len(asked)
    page.clock.run_for(4 * EVERY)
    expect(words).to_contain_text("Paused: as of")
    assert len(asked) == before
    page.reload()
    expect(words).to_contain_text("Paused")
    page.get_by_role("button", name="Resume").click()
    poll(page)

    page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    before = len(asked)
    page.clock.run_for(4 * EVERY)
    assert len(asked) == before


def test_a_page_that_polls_for_long_leaks_nothing(page: Page) -> None:
    page.clock.install()
    page.goto("/lanes/")
    session = page.context.new_cdp_session(page)

    def counted() -> tuple[int, int]:
        """Return nodes and listeners; one collection may miss the last answer."""
        found = []
        for _ in range(6):
            session.send("HeapProfiler.collectGarbage")
            found.append(session.send("Memory.getDOMCounters"))
        nodes = min(one["nodes"] for one in found)
        return nodes, min(one["jsEventListeners"] for one in found)

    for _ in range(10):
        poll(page)
    nodes, listeners = counted()
    for _ in range(POLLS):
        poll(page)

    def is_as_before() -> bool:
        """Whether nothing stayed; what is only collected late is gone the next time."""
        page.clock.run_for(50)  # htmx tidies up after an answer with a timer
        nodes_later, listeners_later = counted()
        return listeners_later <= listeners + 5 and nodes_later <= nodes + 50

    until(is_as_before, 20, every=0.2)


def test_what_the_reader_s_system_asks_for_is_done(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/styleguide/")
    running = page.locator('#pills [data-state="running"].pill .icon')
    moves = running.evaluate("icon => getComputedStyle(icon).animationName")
    assert moves == "none"

    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".sidebar")).to_be_hidden()
    when = page.locator("#times time").nth(1)
    on_paper = when.evaluate("time => getComputedStyle(time, '::after').content")
    assert on_paper == f'"{when.get_attribute("title")}"'
