"""What stands in the way of people who do not see, or do not use a mouse."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

#: Read once: the script is half a megabyte.
_AXE = Axe()
#: What WCAG 2.2 AA asks for; what passes need not be listed, which takes as long again.
_OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
}


def serious(page: Page) -> list[str]:
    """Return what axe finds grave on the page, each with the first place."""
    found = _AXE.run(page, options=_OPTIONS).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]
