"""A file of addresses as lines: plain or packed, within bounds, whole or refused."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import BinaryIO, Final, cast

from tasks.long_jobs import CannotDo
from tasks.saying import mark
from tasks.saying.kept import kept

#: Bytes of a file once unpacked; the largest department has a tenth of it.
UNPACKED_MAX: Final = 2_000_000_000
_CHUNK: Final = 1 << 18
#: Characters of one line; longer ones are no addresses, and would fill the memory.
_LINE_MAX: Final = 100_000
_GZIP: Final = b"\x1f\x8b"
_NOT_UTF8: Final = mark("The file is not written in UTF-8; save it as CSV in UTF-8.")
#: How files begin that are something else -> what to say.
_STRANGERS: Final = {
    b"PK\x03\x04": mark("The file is a ZIP archive; unpack it first."),
    b"\xff\xfe": _NOT_UTF8,
    b"\xfe\xff": _NOT_UTF8,
    b"<": mark("The file is a web page, not a file of addresses."),
    b"%PDF": mark("The file is a PDF, not a file of addresses."),
}


@dataclass(slots=True)
class Lines:
    """The lines of a file, without their ends.

    Args:
        raw: the file; it can tell where it is.
        on_bytes: hears how many bytes of it have been read.
    """

    raw: BinaryIO
    on_bytes: Callable[[int], None]
    unpacked_max: int = UNPACKED_MAX
    ends_well: bool = field(default=False, init=False)  # whether with a line end

    def __iter__(self) -> Iterator[str]:
        """Yield each line.

        Raises:
            CannotDo: it is empty, cut, too large, or no text of lines.
        """
        return chain.from_iterable(self._pieces())

    def _pieces(self) -> Iterator[list[str]]:
        decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        carry, size = "", 0
        for chunk in self._chunks():
            size += len(chunk)
            if size > self.unpacked_max:
                raise CannotDo(
                    "too_large",
                    kept(
                        "The file has more than %(max)s MB once unpacked; take the "
                        "files of single departments.",
                        max=str(self.unpacked_max // 1_000_000),
                    ),
                )
            pieces = (carry + decode(chunk)).split("\n")
            carry = pieces.pop()
            if len(carry) > _LINE_MAX:
                raise CannotDo(
                    "no_lines", mark("The file has no lines of a usual length.")
                )
            yield pieces
            self.on_bytes(self.raw.tell())
        self.ends_well = not carry
        if size == 0:
            raise CannotDo("empty_file", mark("The file is empty."))
        if carry := carry + decode(b"", True):
            yield [carry]

    def _chunks(self) -> Iterator[bytes]:
        start = self.raw.read(4)
        self.raw.seek(0)
        for magic, sentence in _STRANGERS.items():
            if start.startswith(magic):
                raise CannotDo("not_csv", sentence)
        stream = self.raw
        if start.startswith(_GZIP):
            stream = cast("BinaryIO", gzip.GzipFile(fileobj=self.raw))
        try:
            while chunk := stream.read(_CHUNK):
                yield chunk
        except EOFError as error:
            raise CannotDo(
                "cut_file",
                mark("The file is cut off; fetch it again. Nothing was changed."),
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise CannotDo(
                "bad_gzip", mark("The file cannot be unpacked; it is damaged.")
            ) from error
