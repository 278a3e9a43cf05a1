"""What keys do, in one table: the navigation prints them, the help lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.saying import mark

#: After ``g``: the letter that opens a section, by the section's blueprint.
LETTERS: Final[Mapping[str, str]] = {
    "overview": "o",
    "executions": "e",
    "failures": "f",
    "scheduled": "s",
    "agenda": "a",
    "events": "v",
    "rules": "r",
    "outreach": "u",
    "why": "w",
    "operations": "p",
    "holds": "h",
    "lanes": "l",
    "members": "m",
    "groups": "g",
    "territories": "t",
    "campaigns": "c",
    "board": "b",
    "addresses": "d",
    "transfers": "x",
    "notifications": "n",
    "congregations": "y",
    "webhooks": "k",
    "sources": "q",
    "audit": "i",
}
#: (keys, what they do), in the order of the help; ``static/js/keys.js`` does it.
ON_A_PAGE: Final = (
    (("/",), mark("Search")),
    (("j", "k"), mark("Next row, row before")),
    (("Enter",), mark("Open the row")),
    (("x",), mark("Select the row, or not")),
    (("u",), mark("Up, back to the list")),
    (("p",), mark("Pause the refresh, or resume it")),
    (("Esc",), mark("Close what is open, leave a field")),
    (("?",), mark("This help")),
)
