"""Files of contacts as browsers send them: CSV or JSON, as their content says."""

from __future__ import annotations

from typing import Any, Final

from flask import request

from dashboard.api.strict_json import JsonRefused, loads
from dashboard.outreach.views import bp
from tasks.errors import InvalidInput
from tasks.outreach.contact_files import FILE_BYTES_MAX, ContactFile, no_list
from tasks.outreach.reading_csv import check_bytes, read_csv
from tasks.outreach.reading_entries import read_entries
from tasks.saying import say

#: Bytes of an upload: the file and what a form wraps around it.  A larger one is read
#: that far and then refused in words, not by a bare error page.
_UPLOAD_MAX: Final = FILE_BYTES_MAX * 2
_UPLOADS: Final = frozenset({"outreach.upload"})


@bp.url_value_preprocessor
def _allow_uploads(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    # Before anything reads the form, and that is the check of its token.
    if endpoint in _UPLOADS:
        request.max_content_length = _UPLOAD_MAX


def uploaded() -> tuple[str, ContactFile]:
    """Return the name and the content of the upload.

    Raises:
        InvalidInput: there is none, or it cannot be read as a list of contacts.
    """
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InvalidInput("required", say("Choose a file."), field="file")
    with file.stream as stream:  # a large one is a file on the disk
        data = stream.read(FILE_BYTES_MAX + 1)
    check_bytes(data)
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"[", b"{"))
    return file.filename, _json(data) if is_json else read_csv(data)


def _json(data: bytes) -> ContactFile:
    try:
        value = loads(data)
    except JsonRefused as refused:
        raise no_list(refused.message.replace("The body", "The file")) from refused
    return read_entries(value)
