"""Why a file has no thumbnail, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.models.document import ThumbnailReason
from tasks.saying import mark

_R = ThumbnailReason
SENTENCES: Final[Mapping[ThumbnailReason, str]] = {
    _R.PASSWORD: mark(
        "The PDF needs a password. Remove the password and upload it again."
    ),
    _R.BROKEN: mark(
        "This file is not a readable PDF. Save it anew and upload it again."
    ),
    _R.NO_PAGES: mark("The PDF has no pages."),
    _R.TOO_COMPLEX: mark(
        "Drawing the first page takes more time or memory than it may have. "
        "Print it to a new PDF and upload that."
    ),
    _R.TIMED_OUT: mark("Drawing the first page took too long. Try it again later."),
    _R.TOOL_MISSING: mark(
        "No tool for PDFs is installed where the worker runs; “carillon doctor” "
        "says what is missing."
    ),
    _R.TOOL_FAILED: mark(
        "The tool for PDFs does not work; the worker's log says more."
    ),
    _R.FILE_MISSING: mark("The file is not in the storage. Upload it again."),
    _R.STORAGE_FAILED: mark("The storage of files did not answer. Try it again later."),
    _R.WORKER_VANISHED: mark(
        "The worker vanished three times while it drew this file."
    ),
}
