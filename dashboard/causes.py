"""How pages tell what failures have in common: its gaps are shown, and read aloud."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from flask import Flask
from markupsafe import Markup, escape

from dashboard.told import told
from tasks.saying import mark, say

#: What stands in a kept cause for what differs -> what is said of it.
_GAPS: Final[Mapping[str, str]] = {
    "#": mark("so many"),
    "<address>": mark("an address"),
    "<id>": mark("an id"),
    "<ip>": mark("an address"),
    "<time>": mark("a time"),
}
_PARTED: Final = re.compile(f"({'|'.join(_GAPS)})")
_SHOWN: Final = "…"
#: A sign alone is passed over by screen readers, or read as its name.
_READ_ALOUD: Final = Markup('<span role="img" aria-label="{}">{}</span>')


def cause(kept: str) -> Markup:
    """Return a cause in the present language, as markup.

    >>> cause("no answer within # seconds").striptags()
    'no answer within … seconds'
    """
    parts = [
        _READ_ALOUD.format(say(_GAPS[part]), _SHOWN) if part in _GAPS else escape(part)
        for part in _PARTED.split(told(kept))
    ]
    return Markup().join(parts)


def in_plain(kept: str) -> str:
    """Return a cause in the present language, for titles and names.

    >>> in_plain("The mail server refused <address>: 550 5.1.1 (q#)")
    'The mail server refused …: 550 5.1.1 (q…)'
    """
    return _PARTED.sub(_SHOWN, told(kept))


def init_app(app: Flask) -> None:
    """Let templates tell causes: ``{{ group.cause | cause }}``."""
    app.jinja_env.filters["cause"] = cause
    app.jinja_env.filters["cause_in_plain"] = in_plain
