"""Reading a stream to its end or to a limit, and knowing what went by."""

from __future__ import annotations

import hashlib
from typing import BinaryIO

from tasks.storage.base import CHUNK, FileTooLarge, Stored


def copy(source: BinaryIO, target: BinaryIO, *, limit: int) -> Stored:
    """Copy everything, in pieces.

    Raises:
        FileTooLarge: there are more than ``limit`` bytes.
    """
    digest, size = hashlib.sha256(), 0
    while piece := source.read(CHUNK):
        size += len(piece)
        if size > limit:
            raise FileTooLarge(limit)
        digest.update(piece)
        target.write(piece)
    return Stored(size, digest.digest())
