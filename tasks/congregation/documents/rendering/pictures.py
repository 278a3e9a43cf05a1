"""PNG pictures: written as plainly as the format allows, and looked at before use."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Final

#: Longest side of a thumbnail, in pixels.
SIDE: Final = 300
#: More bytes than 300 x 300 pixels of four channels could have.
BYTES_MAX: Final = 1_000_000
_MAGIC: Final = b"\x89PNG\r\n\x1a\n"
_HEAD: Final = struct.Struct(">I4sII")
_END: Final = b"\x00\x00\x00\x00IEND\xaeB`\x82"


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG that was looked at."""

    data: bytes
    width: int  # pixels, 1 to SIDE
    height: int


def read_png(data: bytes) -> Picture | None:
    """Return the picture; ``None``: it is no whole PNG, or larger than it may be.

    A tool that failed can still say that all went well, so its word is not enough.
    """
    if len(data) > BYTES_MAX or not data.startswith(_MAGIC) or not data.endswith(_END):
        return None
    try:
        length, kind, width, height = _HEAD.unpack_from(data, len(_MAGIC))
    except struct.error:
        return None
    is_header = kind == b"IHDR" and length == 13
    if not is_header or not 1 <= width <= SIDE or not 1 <= height <= SIDE:
        return None
    return Picture(data, width, height) if _is_whole(data) else None


def _is_whole(data: bytes) -> bool:
    """Whether every part has the length and the checksum that it says."""
    place, has_pixels = len(_MAGIC), False
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        end = place + 8 + length
        if end + 4 > len(data):
            return False
        if zlib.crc32(data[place + 4 : end]) != int.from_bytes(
            data[end : end + 4], "big"
        ):
            return False
        has_pixels = has_pixels or data[place + 4 : place + 8] == b"IDAT"
        place = end + 4
    return place == len(data) and has_pixels
