"""The files of an archive: known by their content, and looked at before they enter."""

from __future__ import annotations

import hashlib
from typing import Any, Final, NamedTuple

from tasks.congregation.transfer.reading import PIECE, Archive
from tasks.saying import mark

_MAGIC: Final = b"%PDF-"
#: A PDF says that it is one within its first kilobyte.
_HEAD: Final = 1_024


class Content(NamedTuple):
    """A file of an archive, as it is."""

    entry: str
    sha256: str
    size: int  # bytes


def content_of(archive: Archive, entry: str) -> Content | None:
    """Read a file to its end; ``None``: it is no PDF, which is all that comes in.

    Raises:
        ArchiveRefused: it is damaged.
    """
    digest, size, head = hashlib.sha256(), 0, b""
    with archive.opened(entry) as stream:
        while piece := stream.read(PIECE):
            head = head or piece[:_HEAD]
            digest.update(piece)
            size += len(piece)
    return Content(entry, digest.hexdigest(), size) if _MAGIC in head else None


def fault_of(archive: Archive, said: dict[str, Any]) -> str:
    """Return what is wrong with what a row says of its file; empty: nothing."""
    entry = f"files/{said.get('sha256')}"
    if entry not in archive.names:
        return mark("has no file in the archive")
    found = content_of(archive, entry)
    if found is None:
        return mark("has a file that is no PDF")
    if found.sha256 != said["sha256"] or found.size != said.get("size"):
        return mark("says another size or SHA-256 than its file has")
    return ""
