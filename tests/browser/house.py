"""One installation for many tests: each has a congregation of its own in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from playwright.sync_api import Page

from tests.browser import forms
from tests.browser.installation import Carillon


@dataclass(slots=True)
class House:
    """An installation whose first admin is logged in."""

    carillon: Carillon
    cookies: list[Any]
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @contextmanager
    def parish(self, page: Page) -> Iterator[Carillon]:
        """Make a congregation with a token, and show nothing but it on the page."""
        number, url = next(self._numbers), self.carillon.url
        slug = f"parish-{number}"
        self.log_in(page)
        about = {"name": f"Parish {number}", "slug": slug, "timezone": "Europe/Berlin"}
        forms.send(page, f"{url}/congregations/new", **about)
        self.choose(page, slug)
        made = forms.send(page, f"{url}/tokens/new", name="Website")
        token = made.select("#plaintext")[0].get_text()
        yield replace(self.carillon, token=token, slug=slug)
        mails = self.carillon.mails
        mails.behave()
        mails.stop()
        mails.start()

    def log_in(self, page: Page) -> None:
        """Let the page be the first admin's."""
        page.context.add_cookies(self.cookies)

    def choose(self, page: Page, slug: str) -> None:
        """Show one congregation from now on; the session keeps it."""
        page.request.get(f"{self.carillon.url}/?congregation={slug}")
