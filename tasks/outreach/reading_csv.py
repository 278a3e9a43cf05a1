"""Reading a file of contacts as CSV, line by line, whatever program wrote it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tasks.outreach.contact_files import (
    FILE_BYTES_MAX,
    FILE_ROWS_MAX,
    ContactFile,
    FileRow,
    check_length,
    no_list,
)
from tasks.outreach.contacts_csv import field_of
from tasks.saying import mark, say
from tasks.sources.guests_csv import (
    TOO_MANY_CELLS,
    WORKBOOKS,
    decoded,
    delimiter_of,
    why,
)

_COLUMNS_MAX: Final = 100
_HEADER_MAX: Final = 80  # characters that are shown
_DELIMITERS: Final = {
    ",": mark("commas"),
    ";": mark("semicolons"),
    "\t": mark("tabs"),
}
#: What a file in an encoding that we do not know turns into.
_BROKEN: Final = re.compile("[\ufffd\x80-\x9f]")


def read_csv(data: bytes) -> ContactFile:
    """Read a file of up to ``FILE_BYTES_MAX`` bytes and ``FILE_ROWS_MAX`` contacts.

    A row that cannot be read is kept with its reason; the others go on.

    Raises:
        InvalidInput: it cannot be read as a list of contacts; the sentence says why.
    """
    check_bytes(data)
    content = _content(data)
    delimiter = delimiter_of(content)
    reader = csv.reader(
        io.StringIO(content, newline=""), delimiter=delimiter, strict=True
    )
    try:
        header, *rows = _records(reader)
    except csv.Error as error:
        raise no_list(why(reader.line_num, error)) from error
    except ValueError as error:
        raise no_list(say("The file is empty.")) from error
    columns = _columns(header[1], content)
    read = [_row(line, cells, columns) for line, cells in rows]
    check_length(len(read))
    return ContactFile(
        mark("Line"), _encoding_of(data), columns, read, _DELIMITERS[delimiter]
    )


def check_bytes(data: bytes) -> None:
    """Refuse what is too large, empty, or a workbook.

    Raises:
        InvalidInput: it is.
    """
    if len(data) > FILE_BYTES_MAX:
        raise no_list(
            say("The file is larger than %(n)s MB.", n=FILE_BYTES_MAX // 1000000)
        )
    if data.startswith(WORKBOOKS):
        raise no_list(say("This is a workbook; open it and save the sheet as CSV."))
    if not data.strip():
        raise no_list(say("The file is empty."))


def _content(data: bytes) -> str:
    content = decoded(data).removeprefix("\ufeff")
    if "\0" in content:
        raise no_list(say("This is no text file; export the list as CSV first."))
    if broken := _BROKEN.search(content):
        line = content.count("\n", 0, broken.start()) + 1
        raise no_list(
            say(
                "Line %(line)s holds bytes that are neither UTF-8 nor "
                "Windows-1252; save the list as “CSV UTF-8”.",
                line=line,
            )
        )
    return content


def _encoding_of(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:1_000]:
        return "UTF-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "Windows-1252"
    return "UTF-8"


def _records(
    reader: Any,  # noqa: ANN401  # csv has no public type
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty, with the line on which it begins."""
    n_rows, line = 0, 1
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield line, cells
            n_rows += 1
        if n_rows > FILE_ROWS_MAX + 1:  # with the header; more is refused anyway
            return
        line = reader.line_num + 1


def _columns(headers: Sequence[str], content: str) -> list[tuple[str, str]]:
    if len(headers) > _COLUMNS_MAX:
        raise no_list(
            say(
                "The file has more than %(columns_max)s columns.",
                columns_max=_COLUMNS_MAX,
            )
        )
    taken: set[str] = set()
    columns = []
    for header in headers:
        field = field_of(header)
        columns.append((header.strip()[:_HEADER_MAX], "" if field in taken else field))
        taken.add(field)
    if "address" not in taken:
        found = ", ".join(f"“{header}”" for header, _ in columns[:6])
        raise no_list(
            say(
                "No column holds the addresses. The first line must name the "
                "columns, such as Name, E-mail; it has %(found)s.%(advice)s",
                found=found,
                advice=_advice(content),
            )
        )
    return columns


def _advice(content: str) -> str:
    header = content.lstrip().split("\n", 1)[0]
    odd = next((mark for mark in "|:" if mark in header), "")
    if odd and not any(mark in header for mark in _DELIMITERS):
        return say(
            " Columns are separated by commas, semicolons or tabs, not by “%(odd)s”.",
            odd=odd,
        )
    return ""


def _row(
    line: int, cells: Sequence[str], columns: Sequence[tuple[str, str]]
) -> FileRow:
    values = {
        field: cell.strip()
        for (_, field), cell in zip(columns, cells, strict=False)
        if field and cell.strip()
    }
    if any(cell.strip() for cell in cells[len(columns) :]):
        numbers = {"n_cells": len(cells), "n_columns": len(columns)}
        return FileRow(line, values, TOO_MANY_CELLS, numbers)
    return FileRow(line, values)
