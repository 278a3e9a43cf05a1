"""Two ways to use a page: by keyboard alone, and by touching what is seen."""

from __future__ import annotations

from typing import Final, Protocol

from playwright.sync_api import Locator, Page, expect

#: Presses of Tab after which nothing will come any more.
_TABS_MAX: Final = 150
_IS_FOCUSED: Final = "node => node === document.activeElement"


class Hand(Protocol):
    """How somebody goes on, presses, marks and writes."""

    def go(self, page: Page, letter: str, path: str) -> None:
        """Open a section by its letter, or by its address in the navigation."""

    def open(self, row: Locator) -> None:
        """Open what a row of a list is about."""

    def press(self, what: Locator) -> None:
        """Press a button, or follow a link."""

    def mark(self, row: Locator) -> None:
        """Select a row of a list."""

    def write(self, field: Locator, text: str) -> None:
        """Write into a field."""


class Keys:
    """Keys only: letters, Tab, Enter."""

    def go(self, page: Page, letter: str, path: str) -> None:
        """Press ``g`` and the letter."""
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(f"**{path}")

    def open(self, row: Locator) -> None:
        """Go down to the row, and press Enter."""
        self._down_to(row)
        self._enter(row.page)

    def press(self, what: Locator) -> None:
        """Go on with Tab until it is reached, and press Enter."""
        self._tab_to(what)
        self._enter(what.page)

    def mark(self, row: Locator) -> None:
        """Go down to the row, and press ``x``."""
        self._down_to(row)
        row.page.keyboard.press("x")

    def write(self, field: Locator, text: str) -> None:
        """Go on with Tab until the field is reached, and type."""
        self._tab_to(field)
        field.page.keyboard.type(text)

    def _enter(self, page: Page) -> None:
        # A key, unlike a click, does not wait for the page that it leads to.
        with page.expect_event("load"):
            page.keyboard.press("Enter")

    def _down_to(self, row: Locator) -> None:
        for _ in range(_TABS_MAX):
            row.page.keyboard.press("j")
            if row.evaluate("row => row.contains(document.activeElement)"):
                return
        raise AssertionError("no j leads to the row")

    def _tab_to(self, what: Locator) -> None:
        expect(what).to_be_visible()
        for _ in range(_TABS_MAX):
            if what.evaluate(_IS_FOCUSED):
                return
            what.page.keyboard.press("Tab")
        raise AssertionError("no Tab leads there")


class Finger:
    """What is seen is touched."""

    def go(self, page: Page, letter: str, path: str) -> None:
        """Open the menu if there is one, and follow the link."""
        link = page.locator(f'#menu a[href="{path}"], .sidebar a[href="{path}"]').first
        if not link.is_visible():
            page.locator('[popovertarget="menu"]').click()
        link.click()
        page.wait_for_url(f"**{path}")

    def open(self, row: Locator) -> None:
        """Follow the row's first link."""
        row.get_by_role("link").first.click()

    def press(self, what: Locator) -> None:
        """Click."""
        what.click()

    def mark(self, row: Locator) -> None:
        """Check the row's box."""
        row.locator("input[type=checkbox]").check()

    def write(self, field: Locator, text: str) -> None:
        """Fill the field."""
        field.fill(text)
