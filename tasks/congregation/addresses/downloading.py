"""Fetching a file of open data, for whoever asks; how is told in ``outbound``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import BinaryIO, Final, Protocol

from tasks.saying import mark

#: Hosts that publish addresses of France; an administrator can add others.
OPEN_DATA_HOSTS: Final = frozenset(
    {"bano.openstreetmap.fr", "adresse.data.gouv.fr", "data.gouv.fr"}
)


@dataclass(frozen=True, slots=True)
class Downloaded:
    """The file has arrived whole."""

    size: int  # bytes
    changed_on: date | None  # as the server says


@dataclass(frozen=True, slots=True)
class NotDownloaded:
    """There is no file; the sentence, in English, says why."""

    sentence: str
    may_pass: bool  # whether another try could work


#: Hears how many bytes have come, and of how many; None: the server did not say.
OnBytes = Callable[[int, int | None], None]


class Downloader(Protocol):
    """Fetches one file."""

    def download(
        self, url: str, file: BinaryIO, on_bytes: OnBytes
    ) -> Downloaded | NotDownloaded:
        """Write what the address holds into ``file``.

        Never raises for what a server does; what ``on_bytes`` raises goes through.
        """


class NoDownloads:
    """Stands where no way out of the house was given."""

    def download(
        self, url: str, file: BinaryIO, on_bytes: OnBytes
    ) -> Downloaded | NotDownloaded:
        """Answer that nothing can be fetched."""
        del url, file, on_bytes
        return NotDownloaded(mark("This worker fetches nothing."), may_pass=False)


NO_DOWNLOADS: Final = NoDownloads()
