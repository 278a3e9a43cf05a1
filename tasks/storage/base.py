"""What every storage does, and which names its files may have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final, NoReturn, Protocol
from uuid import UUID

from tasks.errors import EngineError, InvalidInput
from tasks.saying import mark, say
from tasks.saying.formats import decimal

#: What is on its way into the storage for longer was left by a process that died.
ABANDONED: Final = timedelta(days=1)
#: The longest key, in characters; every file system and S3 take it.
KEY_MAX: Final = 200
#: Bytes that are copied at once.
CHUNK: Final = 1 << 18
#: Parts begin with a letter or digit, so none is "..", hidden, or an option.
_PART: Final = re.compile(r"[0-9a-z][0-9a-z._-]*")
_UNITS: Final = ((1_000, mark("kB")), (1_000_000, mark("MB")))


class FileMissing(EngineError):
    """The storage has no file of this name."""


class StorageFailed(EngineError):
    """The storage could not do it now: full, not reachable, not permitted."""


class FileTooLarge(InvalidInput):
    """A file has more bytes than it may have; nothing of it is kept."""

    def __init__(self, limit: int) -> None:
        size = say("%(n)s bytes", n=limit)
        for unit, sign in _UNITS:
            if limit >= unit:
                size = f"{decimal(limit / unit)} {say(sign)}"
        super().__init__(
            "file_too_large",
            say("The file is larger than %(size)s.", size=size),
            field="file",
        )


@dataclass(frozen=True, slots=True)
class Stored:
    """What was written."""

    size: int  # bytes
    sha256: bytes


class Storage(Protocol):
    """Files by key; what is there under a key is always whole.

    A key is ``<congregation's id>/<what for>/<name>``; ``key_of`` makes one.  Every
    method may raise ``StorageFailed``, and ``ValueError`` for a key that none is.
    """

    @property
    def title(self) -> str:
        """Where the files are, for operators."""

    def put(self, key: str, stream: BinaryIO, *, limit: int) -> Stored:
        """Write everything of the stream, at once or not at all.

        Args:
            key: what was there under it is replaced.
            stream: read from where it stands; it stays open.
            limit: bytes.

        Raises:
            FileTooLarge: the stream has more; nothing is kept.
        """

    def open(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Read a file from its start; the stream cannot seek.

        Raises:
            FileMissing: there is none.
        """

    def at_hand(self, key: str) -> AbstractContextManager[Path]:
        """Give the file as one of this machine, to be read only, within the block.

        Raises:
            FileMissing: there is none.
        """

    def size(self, key: str) -> int | None:
        """Return how many bytes a file has; ``None``: there is none."""

    def delete(self, key: str) -> None:
        """Remove a file; one that is not there is removed already."""

    def keys(self, prefix: str, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        """Return keys that begin with ``prefix``, in their order, past ``after``.

        Args:
            prefix: whole parts and a slash; empty: everything.
        """

    def check(self) -> None:
        """Write, read and remove a small file."""

    def tidy(self) -> None:
        """Remove what processes that died over a day ago had only begun to write."""


def key_of(congregation_id: UUID, purpose: str, name: str) -> str:
    """Return a key within a congregation's own files.

    >>> key_of(UUID(int=7), "board", "first.pdf")
    '00000000-0000-0000-0000-000000000007/board/first.pdf'

    Raises:
        ValueError: a part has other characters than ``0-9 a-z . _ -``.
    """
    return checked(f"{congregation_id}/{purpose}/{name}")


def checked(key: str) -> str:
    """Return the key.

    Raises:
        ValueError: it is none; such a key is a mistake of ours, never an operator's.
    """
    parts = key.split("/")
    if len(key) > KEY_MAX or not all(_PART.fullmatch(part) for part in parts):
        raise ValueError(f"not a key: {key[:KEY_MAX]!r}")
    return key


def checked_prefix(prefix: str) -> str:
    """Return the prefix.

    Raises:
        ValueError: it is not empty, nor whole parts that end with a slash.
    """
    if prefix and not prefix.endswith("/"):
        raise ValueError(f"not a prefix: {prefix[:KEY_MAX]!r}")
    if prefix:
        checked(prefix[:-1])
    return prefix


class NoStorage:
    """What a sweep has that was given no storage: it refuses everything."""

    title = "nowhere"

    def put(self, key: str, stream: BinaryIO, *, limit: int) -> Stored:
        self._refuse()

    def open(self, key: str) -> AbstractContextManager[BinaryIO]:
        self._refuse()

    def at_hand(self, key: str) -> AbstractContextManager[Path]:
        self._refuse()

    def size(self, key: str) -> int | None:
        self._refuse()

    def delete(self, key: str) -> None:
        self._refuse()

    def keys(self, prefix: str, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        self._refuse()

    def check(self) -> None:
        self._refuse()

    def tidy(self) -> None:
        """There is nothing."""

    def _refuse(self) -> NoReturn:
        raise StorageFailed(say("There is no storage here."))
