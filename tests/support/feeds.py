"""Feeds with items of our own making."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from xml.sax.saxutils import escape

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" '
    'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" '
    'xmlns:podcast="https://podcastindex.org/namespace/1.0">\n<channel>'
    "<title>Kirchplatz</title><link>https://kirchplatz.example/</link>"
    "<podcast:guid>917393e3-1b1e-5cef-ace4-edaa54e1f810</podcast:guid>"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a feed."""

    guid: str
    title: str
    at: datetime = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)
    description: str = "<p>About &amp; around <b>bells</b>.</p>"
    number: str = "1"

    def __str__(self) -> str:
        """Return the item as XML."""
        return (
            f"<item><title>{escape(self.title)}</title>"
            f'<guid isPermaLink="false">{escape(self.guid)}</guid>'
            f"<pubDate>{format_datetime(self.at)}</pubDate>"
            f"<description><![CDATA[{self.description}]]></description>"
            f"<itunes:episode>{self.number}</itunes:episode>"
            "<podcast:season>2</podcast:season>"
            '<enclosure url="https://media.example/1.mp3" length="9" '
            'type="audio/mpeg"/></item>'
        )


def rss(entries: Sequence[Entry]) -> bytes:
    """Return a feed with these items."""
    return f"{_HEAD}{''.join(map(str, entries))}</channel></rss>".encode()
