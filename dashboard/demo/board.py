"""The demo's document board: a few sheets of paper, written here."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from dashboard.demo.parish import SACRISTAN
from tasks.congregation.documents import board
from tasks.congregation.documents.drafts import DocumentDraft
from tasks.congregation.documents.files import put
from tasks.congregation.documents.sections import add_section
from tasks.db import Begin
from tasks.storage import Storage

#: Section, title, file, last day counted from today (None: none), lines.
_SHEETS: Final = (
    (
        "Rosters",
        "Roster of readers",
        "roster-readers.pdf",
        5,
        ("Readers", "1st Sunday: Claire Rochat", "2nd Sunday: Beat Suter"),
    ),
    (
        "Rosters",
        "Ringing the bells",
        "bells.pdf",
        None,
        ("Who rings when", "Saturday, six o'clock: Luca", "Feasts: all four bells"),
    ),
    (
        "Letters",
        "Letter to the parish",
        "letter.pdf",
        60,
        ("Dear all,", "the tower is being repaired until autumn.", "Ruth Kessler"),
    ),
    ("Letters", "Minutes of the council", "minutes.pdf", None, ()),
)
_LIMIT: Final = 100_000


def make_board(begin: Begin, storage: Storage, parish: UUID, now: datetime) -> None:
    """Put some documents on the board; the worker draws them when it starts.

    One of them cannot be drawn, so there is something to look into.
    """
    for name, title, filename, last, lines in _SHEETS:
        content = _sheet(lines) if lines else b"%PDF-1.4\nThe rest got lost on the way."
        stream = io.BytesIO(content)
        upload = put(begin, storage, parish, stream, limit=_LIMIT, now=now)
        with begin() as session:
            section = add_section(session, parish, name, SACRISTAN)
            until = None if last is None else now.date() + timedelta(days=last)
            draft = DocumentDraft(title, section.id, visible_until=until)
            board.add_document(session, upload, filename, draft, SACRISTAN, now)


def _sheet(lines: Sequence[str]) -> bytes:
    """Return a PDF of one A4 page with some lines; the first is its heading."""
    heading, *others = (line.replace("(", "").replace(")", "") for line in lines)
    text = "".join(f"0 -34 Td ({line}) Tj " for line in others)
    content = f"BT /F 34 Tf 60 740 Td ({heading}) Tj /F 22 Tf 0 -30 Td {text}ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F 5 0 R >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    body, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(f"{len(body):010} 00000 n \n")
        body += f"{number} 0 obj\n{each}\nendobj\n"
    size = len(objects) + 1
    return (
        f"{body}xref\n0 {size}\n0000000000 65535 f \n{''.join(places)}trailer\n"
        f"<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    ).encode("ascii")
