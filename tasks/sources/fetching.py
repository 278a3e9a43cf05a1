"""What a page of the web answered, for whoever asked; how is told in ``outbound``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

#: Bytes of an answer; one as large as this, or larger, is refused.
SIZE_MAX: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Fetched:
    """The page, and what to send along next time."""

    body: bytes
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class NotModified:
    """The page is as it was."""


@dataclass(frozen=True, slots=True)
class NotFetched:
    """There is no page; the sentence says why."""

    sentence: str
    after: timedelta | None = None  # the other side's wish; None: it has none


Answer = Fetched | NotModified | NotFetched


class Fetcher(Protocol):
    """Fetches one page."""

    def fetch(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None
    ) -> Answer:
        """Fetch, within a total deadline; never raises for what a server does."""


class Nowhere:
    """Stands where no way out of the house was given."""

    def fetch(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None
    ) -> Answer:
        """Answer that nothing can be fetched."""
        del url, etag, last_modified
        return NotFetched("This worker fetches nothing.")


NOWHERE: Final = Nowhere()
