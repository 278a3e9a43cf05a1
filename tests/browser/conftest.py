"""A browser and an installation started as users start it: ``carillon run``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from tests.browser import forms, steps
from tests.browser.house import House
from tests.browser.installation import Carillon, installed, running
from tests.support.processes import environment
from tests.support.servers import free_port

#: Names under which systems install a Chromium.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
MAC_CHROME = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
#: Keeps Chromium from looking for its maker, in vain or not.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


#: Seconds for a test; the first one also waits for an installation to start.
_PATIENCE = 240


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder the time that a start takes on a busy machine."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(_PATIENCE))


def _chromium() -> str:
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    if MAC_CHROME.exists():
        return str(MAC_CHROME)
    pytest.fail(
        "The browser tests need Chromium. On Debian: apt-get install chromium; "
        "on macOS install Google Chrome.",
        pytrace=False,
    )


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """Return the system's Chromium; nothing is downloaded."""
    browser = playwright.chromium.launch(executable_path=_chromium(), args=list(QUIET))
    yield browser
    browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Return a page that fails its test when a script or the CSP complains."""
    expect.set_options(timeout=15_000)
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        lambda line: (
            complaints.append(line.text)
            if "Content Security Policy" in line.text
            else None
        ),
    )
    yield opened
    context.close()
    assert not complaints


@pytest.fixture
def carillon(tmp_path: Path) -> Iterator[Carillon]:
    """Start an installation in an empty folder."""
    with installed(tmp_path) as started:
        yield started


@pytest.fixture(scope="session")
def house(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """Start one installation for all tests that want a congregation of their own."""
    with installed(tmp_path_factory.mktemp("house")) as started:
        context = chromium.new_context()
        steps.become_first_admin(context.new_page(), started)
        cookies = context.cookies()
        context.close()
        yield House(started, cookies)


@pytest.fixture
def parish(house: House, page: Page) -> Iterator[Carillon]:
    """Return the shared console with an empty congregation of its own.

    The page is logged in, and shows that congregation alone.
    """
    with house.parish(page) as made:
        yield made


@pytest.fixture(scope="session")
def colleagues_cookies(house: House, chromium: Browser) -> list[Any]:
    """Make an operator, who is no admin, and log them in."""
    admin, own = chromium.new_context(), chromium.new_context()
    page = admin.new_page()
    house.log_in(page)
    about = {"email": "otto@example.org", "name": "Otto", "role": "operator"}
    made = forms.send(page, f"{house.carillon.url}/operators/new", **about)
    link = made.select("#new-link code")[0].get_text(strip=True)
    steps.become_operator(own.new_page(), link, about["email"])
    cookies: list[Any] = own.cookies()
    admin.close()
    own.close()
    return cookies


@pytest.fixture
def colleague(chromium: Browser, colleagues_cookies: list[Any]) -> Iterator[Page]:
    """Return the page of somebody else, who is an operator and no admin."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies(colleagues_cookies)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def demo_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the demo and return its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    # Ports of its own: another process of the tests may start a demo at this moment.
    own = {name: str(free_port()) for name in ("DEMO_MAIL_PORT", "DEMO_HOOK_PORT")}
    folder = tmp_path_factory.mktemp("demo")
    environ = environment(folder, PORT=str(port), BASE_URL=url, **own)
    with running(environ, r"Log in as \S+", "--demo"):
        yield url
