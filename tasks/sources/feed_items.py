"""What one item of a feed says about its episode."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Final

from tasks.automation.checks import YEARS
from tasks.automation.fields import NUMBER_MAX
from tasks.sources.reading import text

TITLE_MAX: Final = 200
DESCRIPTION_MAX: Final = 20_000
_GUID_MAX: Final = 2_000
_BLOCKS: Final = frozenset(
    {"p", "br", "div", "li", "ul", "ol", "h1", "h2", "h3", "h4", "tr", "blockquote"}
)
_HIDDEN: Final = frozenset({"script", "style"})
#: Never tries one place twice, so that its time is bounded by the length.
_TAG: Final = re.compile(r"<(?P<close>/?+)(?P<name>[A-Za-z][A-Za-z0-9]*+)?+[^<>]*+>")


@dataclass(frozen=True, slots=True)
class Item:
    """One item, cleaned."""

    guid: str  # what tells it from others; never empty
    title: str  # never empty
    description: str  # plain text
    number: int | None
    published_at: datetime | None  # None: it does not say

    @property
    def guid_digest(self) -> str:
        """The guid in a form that every database can index."""
        return hashlib.sha256(self.guid.encode()).hexdigest()

    @property
    def digest(self) -> str:
        """Tells whether what we keep of it has changed."""
        kept = json.dumps([self.title, self.description, self.number])
        return hashlib.sha256(kept.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class FeedContent:
    """What a feed holds."""

    title: str
    items: tuple[Item, ...]


def make_item(said: Mapping[str, str]) -> Item | None:
    """Return an item; ``None`` when nothing tells it from others."""
    published = read_date(_first(said, "pubDate", "published", "dc:date", "updated"))
    title = text(plain(_first(said, "title", "itunes:title")), TITLE_MAX)
    stamp = published.isoformat() if published else ""
    guid = text(_first(said, "guid", "id", "enclosure", "link"), _GUID_MAX)
    guid = guid or (f"{title} {stamp}".strip() if title else "")
    if not guid:
        return None
    description = plain(
        _first(
            said,
            "description",
            "itunes:summary",
            "content:encoded",
            "summary",
            "content",
            "itunes:subtitle",
        )
    )
    return Item(
        guid=guid,
        title=title or "Untitled",
        description=text(description, DESCRIPTION_MAX, lines=True),
        number=read_number(_first(said, "itunes:episode", "podcast:episode")),
        published_at=published,
    )


def read_date(value: str) -> datetime | None:
    """Return an instant from RFC 2822 or ISO 8601; ``None`` when it is neither.

    >>> read_date("Tue, 10 Mar 2026 12:00:00 +0100")
    datetime.datetime(2026, 3, 10, 11, 0, tzinfo=datetime.timezone.utc)
    >>> read_date("yesterday")
    """
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            found = parse(value.strip())
            aware = found if found.tzinfo else found.replace(tzinfo=UTC)
            moment = aware.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
        return moment if moment.year in YEARS else None
    return None


def read_number(value: str) -> int | None:
    """Return a whole number that an episode may have, else ``None``."""
    digits = value.strip()[:12]
    if not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits) if int(digits) <= NUMBER_MAX else None


def plain(value: str) -> str:
    """Return HTML as text: messages escape it, so tags would be read by people.

    >>> plain("<p>Bells &amp; <b>towers</b></p><script>x</script>")
    'Bells & towers'
    """
    if "<" not in value and "&" not in value:
        return value.strip()
    found: list[str] = []
    hidden = ""
    end = 0
    # Not html.parser: with hostile tags its time grows with the square of the length.
    for tag in _TAG.finditer(value):
        name = tag["name"].lower() if tag["name"] else ""
        if not hidden:
            found.append(value[end : tag.start()])
            found.append("\n" if name in _BLOCKS else "")
        if name in _HIDDEN:
            hidden = "" if tag["close"] else name
        end = tag.end()
    if not hidden:
        found.append(value[end:])
    lines = (" ".join(line.split()) for line in unescape("".join(found)).split("\n"))
    return "\n".join(line for line in lines if line)


def _first(said: Mapping[str, str], *names: str) -> str:
    return next((said[name] for name in names if said.get(name, "").strip()), "")
