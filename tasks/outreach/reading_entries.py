"""Reading a file of contacts from JSON that was parsed already."""

from __future__ import annotations

from typing import Any, Final

from tasks.outreach.contact_files import ContactFile, FileRow, check_length, no_list
from tasks.saying import mark, say

_SHAPE: Final = mark(
    'A JSON file must be a list such as [{"address": "zoe@example.org"}], or '
    '{"contacts": […]}.'
)


def read_entries(value: Any) -> ContactFile:  # noqa: ANN401  # any JSON
    """Return the contacts of a list, or of an object with a list ``contacts``.

    An entry that is no object is kept with its reason; the others go on.

    Raises:
        InvalidInput: it is no such list, or has too many entries.
    """
    entries = value
    if isinstance(value, dict):
        if set(value) != {"contacts"}:
            raise no_list(say(_SHAPE))
        entries = value["contacts"]
    if not isinstance(entries, list):
        raise no_list(say(_SHAPE))
    check_length(len(entries))
    rows = [_row(number, entry) for number, entry in enumerate(entries, 1)]
    return ContactFile(mark("Entry"), "JSON", (), rows)


def _row(number: int, entry: object) -> FileRow:
    if isinstance(entry, dict):
        return FileRow(number, entry)
    return FileRow(number, {}, mark("It must be an object with an address."))
