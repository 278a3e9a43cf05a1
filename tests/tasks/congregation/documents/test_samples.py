"""Real PDFs of many programs: what becomes of the first page of each."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from tasks.congregation.documents.rendering.pictures import Picture
from tasks.congregation.documents.rendering.renderer import (
    PDFIUM,
    ChildRenderer,
    Refused,
)
from tasks.models import ThumbnailReason

FOLDER = Path(__file__).parents[3] / "samples" / "pdf"
A4, LETTER = (212, 300), (232, 300)
#: Width and height of the picture, or why there is none.
BECOMES: Final[dict[str, tuple[int, int] | ThumbnailReason]] = {
    "annotated_pdf.pdf": A4,
    "crazyones-pdfa.pdf": LETTER,
    "grayscale-image.pdf": (216, 300),
    "habibi-rotated.pdf": (300, 212),
    "libreoffice-writer-password.pdf": ThumbnailReason.PASSWORD,
    "minimal-document.pdf": A4,
    "multicolumn.pdf": A4,
    "pdflatex-4-pages.pdf": A4,
    "pdflatex-forms.pdf": LETTER,
}


def test_every_file_is_tried() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(BECOMES)


@pytest.mark.parametrize("name", BECOMES)
def test_a_real_file_becomes_a_picture_or_says_why_not(name: str) -> None:
    wanted = BECOMES[name]
    for tool in {PDFIUM, shutil.which("pdftoppm") or PDFIUM}:
        # Processor time and memory end it; a busy machine's clock must not.
        got = ChildRenderer(tool, timedelta(seconds=100)).render(FOLDER / name)
        if isinstance(wanted, ThumbnailReason):
            assert got == Refused(wanted), tool
        else:
            assert isinstance(got, Picture), tool
            assert (got.width, got.height) == wanted, tool
