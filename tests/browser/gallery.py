"""The pictures of all pages: taken small, and listed for whoever looks for one."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

#: What a picture is called after its page: how wide, and in which colours.
LABELS: Final = ("desktop-light", "desktop-dark", "phone-light", "phone-dark")
#: Half the size is still readable, and a few kilobytes each.
_SCALE: Final = 0.5
_QUALITY: Final = 55
_ENDING: Final = ".webp"


def take(page: Page, folder: Path, name: str) -> None:
    """Take a small picture of what the window shows."""
    size = page.viewport_size
    assert size is not None
    folder.mkdir(parents=True, exist_ok=True)
    # Playwright itself makes neither this format nor another size.
    chrome = page.context.new_cdp_session(page)
    taken = chrome.send(
        "Page.captureScreenshot",
        {
            "format": "webp",
            "quality": _QUALITY,
            "clip": {"x": 0, "y": 0, **size, "scale": _SCALE},
        },
    )
    (folder / f"{name}{_ENDING}").write_bytes(base64.b64decode(taken["data"]))
    chrome.detach()


def listing(folder: Path) -> str:
    """Return a page that shows every picture of a folder, a row for each page."""
    label = LABELS[0]
    names = sorted(
        path.name.removesuffix(f"-{label}{_ENDING}")
        for path in folder.glob(f"*-{label}{_ENDING}")
    )
    rows = [
        "| " + " | ".join([name, *(f"![]({name}-{one}{_ENDING})" for one in LABELS)])
        for name in names
    ]
    head = ["| Page | " + " | ".join(LABELS), "|" + " --- |" * (len(LABELS) + 1)]
    told = "Every page with the demo's data, as `make screens` makes them.\n"
    return "\n".join(["# Pages\n", told, *head, *rows]) + "\n"


if __name__ == "__main__":
    shown = Path(sys.argv[1])
    (shown / "README.md").write_text(listing(shown), encoding="utf-8")
