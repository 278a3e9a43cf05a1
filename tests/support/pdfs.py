"""Small PDFs, good and hostile, made here."""

from __future__ import annotations

from collections.abc import Sequence


def pdf(
    *objects: str,
    content: str = "0.2 0.4 0.8 rg 20 20 100 60 re f",
    box: str = "[0 0 200 283]",
    resources: str = "<< >>",
    kids: str = "[3 0 R]",
    count: str = "1",
    trailer: str = "",
) -> bytes:
    """Return a PDF of one page.

    Args:
        objects: further ones, from number 5 on.
    """
    return _file(
        (
            "<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Kids {kids} /Count {count} >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents 4 0 R "
            f"/Resources {resources} >>",
            _stream("", content),
            *objects,
        ),
        trailer,
    )


def encrypted() -> bytes:
    """Return a PDF whose password nobody knows."""
    key = "<" + "5a" * 32 + ">"
    crypt = (
        f"<< /Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -4 >>"  # no such password
    )
    mark = "<" + "00" * 16 + ">"
    return pdf(crypt, trailer=f"/Encrypt 5 0 R /ID [{mark} {mark}]")


def no_pages() -> bytes:
    """Return a PDF without a page."""
    return pdf(kids="[]", count="0")


def endless() -> bytes:
    """Return a PDF that takes years to draw: each form draws ten others."""
    depth = 12
    forms = [
        _stream(
            "/Type /XObject /Subtype /Form /BBox [0 0 200 283] /Resources "
            f"<< /XObject << /F {6 + n} 0 R >> >>",
            "/F Do " * 10,
        )
        for n in range(depth)
    ]
    last = _stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 200 283]", "0 0 200 283 re f"
    )
    return pdf(*forms, last, content="/F Do", resources="<< /XObject << /F 5 0 R >> >>")


def _stream(entries: str, content: str) -> str:
    return f"<< {entries} /Length {len(content)} >>\nstream\n{content}\nendstream"


def _file(objects: Sequence[str], trailer: str) -> bytes:
    body, places = "%PDF-1.5\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n"
        f"startxref\n{len(body)}\n%%EOF\n"
    ).encode("latin-1")
