"""What an operator's HTML may hold, and how it reads as plain text."""

from __future__ import annotations

import html
import re
from typing import Final

import nh3

_LINES: Final = ("a", "abbr", "b", "br", "code", "em", "i", "img", "s", "small", "span")
_MORE_LINES: Final = ("strong", "sub", "sup", "u")
_BLOCKS: Final = ("blockquote", "div", "h1", "h2", "h3", "h4", "hr", "p", "pre")
_LISTS: Final = ("li", "ol", "ul")
_TABLES: Final = ("caption", "table", "tbody", "td", "th", "thead", "tr")
_ATTRIBUTES: Final = {
    "a": {"href", "title"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
}
_CLEANER: Final = nh3.Cleaner(
    tags={*_LINES, *_MORE_LINES, *_BLOCKS, *_LISTS, *_TABLES},
    attributes=_ATTRIBUTES,
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel="noopener noreferrer",
)
#: A tag as the cleaner writes it: every attribute in double quotes.
_TAG: Final = re.compile(r'<(/?)([a-z][a-z0-9]*)((?:\s[a-z-]+="[^"]*")*)\s*/?>')
_HREF: Final = re.compile(r'\b(?:href|alt)="([^"]*)"')
_SPACE: Final = re.compile(r"[ \t\r\n\f]+")
_AROUND_BREAK: Final = re.compile(r" *\n *")
_MANY_BREAKS: Final = re.compile(r"\n{3,}")
#: What stands before and after an element in plain text.
_AROUND: Final = {
    **dict.fromkeys(
        ("p", "blockquote", "pre", "h1", "h2", "h3", "h4", "ul", "ol", "table"),
        ("\n\n", "\n\n"),
    ),
    "div": ("\n", "\n"),
    "caption": ("\n", ""),
    "tr": ("\n", ""),
    "li": ("\n- ", ""),
    "td": ("", " "),
    "th": ("", " "),
    "br": ("\n", ""),
    "hr": ("\n\n---\n\n", ""),
}


def cleaned(source: str) -> str:
    """Return HTML without scripts, styles, forms and addresses that run something."""
    return _CLEANER.clean(source)


def as_text(clean: str) -> str:
    """Return cleaned HTML as plain text; links keep their addresses.

    >>> as_text('<p>Hi <b>Zoë</b></p><p><a href="https://x.org/">Room</a></p>')
    'Hi Zoë\\n\\nRoom (https://x.org/)'
    """
    written: list[str] = []
    links: list[tuple[int, str]] = []  # where an open link's words begin, its address
    pieces = _TAG.split(clean)
    written.append(_words(pieces[0]))
    for start in range(1, len(pieces), 4):
        closing, name, attributes, words = pieces[start : start + 4]
        if name == "a":
            _link(closing, attributes, written, links)
        elif name == "img" and (found := _HREF.search(attributes)):
            written.append(_words(found[1]))
        before, after = _AROUND.get(name, ("", ""))
        written.append(after if closing else before)
        written.append(_words(words))
    text = _AROUND_BREAK.sub("\n", "".join(written).replace("\xa0", " "))
    return _MANY_BREAKS.sub("\n\n", text).strip()


def _words(source: str) -> str:
    return html.unescape(_SPACE.sub(" ", source))


def _link(
    closing: str, attributes: str, written: list[str], links: list[tuple[int, str]]
) -> None:
    if not closing:
        found = _HREF.search(attributes)
        links.append((len(written), html.unescape(found[1]) if found else ""))
        return
    if not links:
        return
    start, address = links.pop()
    words = "".join(written[start:]).strip()
    shown = address.removeprefix("mailto:").removeprefix("tel:")
    if address and words != shown:
        written.append(f" ({shown})")
