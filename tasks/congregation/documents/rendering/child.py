"""The process that renders: it knows no secrets and lives within limits.

Run as a file of its own, ``child.py <parent's id> <tool> <pdf>``; so it imports nothing
of ours.  It writes a PNG to its standard output.  What went wrong stands in the last
line of its standard error: a word of ``ThumbnailReason`` after ``reason:``.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
import zlib
from typing import Any, Final, NoReturn

SIDE: Final = 300  # pixels, as in ``pictures``
MEMORY_MAX: Final = 768 * 1024 * 1024  # bytes of address space
CPU_SECONDS: Final = 10
OUTPUT_MAX: Final = 4 * 1024 * 1024  # bytes, of picture and complaints each
_PR_SET_PDEATHSIG: Final = 1
_FAILED: Final = 3
#: PDFium's word for "a password is needed", and the same for odd encryptions.
_PASSWORD_ERRORS: Final = frozenset({4, 5})


def limit(parent: int) -> None:
    """Set the limits that hold from now on, and end together with the parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(_FAILED)  # it died before we could ask to be told
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_MAX),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, OUTPUT_MAX),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most + (what == resource.RLIMIT_CPU)))
    # Python ignores it, and a tool that we become would do the same.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def poppler(tool: str, path: str) -> None:
    """Become ``pdftoppm``; without a name for its output it writes to stdout."""
    how = ("-png", "-singlefile", "-f", "1", "-l", "1", "-scale-to", str(SIDE))
    os.execv(tool, [tool, *how, path])  # noqa: S606  # no shell is wanted


def pdfium(path: str) -> bytes:
    """Return a PNG of the first page."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        fail("password" if error.err_code in _PASSWORD_ERRORS else "broken")
    if len(document) == 0:
        fail("no_pages")
    document.init_forms()
    try:
        page = document[0]
    except pypdfium2.PdfiumError:
        fail("broken")
    width, height = size(*page.get_size())
    return png(width, height, *pixels(pypdfium2, document, page, width, height))


def size(width: float, height: float) -> tuple[int, int]:
    """Return the picture's size: the longer side is SIDE, the other in proportion."""
    if not (0 < width < float("inf") and 0 < height < float("inf")):
        fail("broken")
    scale = SIDE / max(width, height)
    return tuple(max(1, min(SIDE, round(each * scale))) for each in (width, height))  # type: ignore[return-value]  # two in, two out


def pixels(
    library: Any,  # noqa: ANN401  # an untyped library, and two of its objects
    document: Any,  # noqa: ANN401
    page: Any,  # noqa: ANN401
    width: int,
    height: int,
) -> tuple[bytes, int]:
    """Return the page's pixels, red, green, blue, and the bytes of one line."""
    raw = library.raw
    bitmap = library.PdfBitmap.new_native(width, height, raw.FPDFBitmap_BGR)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
    how = (0, 0, width, height, 0, raw.FPDF_ANNOT | raw.FPDF_REVERSE_BYTE_ORDER)
    raw.FPDF_RenderPageBitmap(bitmap, page, *how)
    if document.formenv is not None:
        raw.FPDF_FFLDraw(document.formenv, bitmap, page, *how)
    return bytes(bitmap.buffer), bitmap.stride


def png(width: int, height: int, data: bytes, stride: int) -> bytes:
    """Return pixels as a PNG."""
    lines = b"".join(
        b"\x00" + data[y * stride : y * stride + 3 * width] for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in parts
    )


def fail(reason: str) -> NoReturn:
    """End with a reason."""
    sys.stderr.write(f"\nreason:{reason}\n")
    sys.exit(_FAILED)


def main(parent: str, tool: str, path: str) -> None:
    """Render one PDF."""
    limit(int(parent))
    if tool != "pdfium":
        poppler(tool, path)
    try:
        picture = pdfium(path)
    except MemoryError:
        fail("too_complex")
    sys.stdout.buffer.write(picture)


if __name__ == "__main__":
    main(*sys.argv[1:4])
