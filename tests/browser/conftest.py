"""A browser and an installation started as users start it: ``carillon run``."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from tests.support.processes import ROOT, environment, until
from tests.support.servers import free_port
from tests.support.smtp_sink import SmtpSink

#: Names under which systems install a Chromium.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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
PASSWORD = "three bells at noon"


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


@dataclass(slots=True)
class Carillon:
    """A running installation, as its operator sees it."""

    url: str
    setup_link: str
    mails: SmtpSink
    token: str = ""

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Call the API as a producer does; a refusal raises ``HTTPError``."""
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            method=method,
            data=json.dumps(body or {}).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


@contextmanager
def _running(environ: dict[str, str], pattern: str, *options: str) -> Iterator[str]:
    """Run ``carillon run`` until the block ends, and yield what ``pattern`` finds.

    It must end cleanly on Ctrl-C.
    """
    log = Path(environ["VAR_DIR"]) / "run.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dashboard.cli", "run", *options],
            env=environ,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def told() -> str | None:
        text = log.read_text(errors="replace")
        assert process.poll() is None, text
        found = re.search(pattern, text)
        return found[0] if found else None

    try:
        yield until(told, 90)
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(40)
    assert code == 0, log.read_text(errors="replace")[-3000:]


@pytest.fixture
def carillon(tmp_path: Path) -> Iterator[Carillon]:
    """Start an installation in an empty folder."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with SmtpSink() as mails:
        environ = environment(
            tmp_path, PORT=str(port), BASE_URL=url, SMTP_URL=mails.url
        )
        with _running(environ, r"http://\S+/setup\?token=\S+") as link:
            yield Carillon(url, link, mails)


@pytest.fixture(scope="session")
def demo_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the demo and return its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environ = environment(tmp_path_factory.mktemp("demo"), PORT=str(port), BASE_URL=url)
    with _running(environ, r"Log in as \S+", "--demo"):
        yield url
