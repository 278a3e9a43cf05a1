"""Reading a list of guests from a CSV file, whatever program wrote it."""

from __future__ import annotations

import codecs
import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks.errors import InvalidInput
from tasks.saying import mark, say
from tasks.sources.guest_tables import GuestRow, GuestTable
from tasks.sources.reading import text

BYTES_MAX: Final = 5_000_000
ROWS_MAX: Final = 5_000
_COLUMNS_MAX: Final = 100
_CELL_MAX: Final = 500  # characters; the fields' own limits are lower
_DELIMITERS: Final = (",", ";", "\t")
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: How the files of Excel, old and new, and of LibreOffice begin.
WORKBOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
#: Our field -> how columns are called in English, French and German, without accents,
#: spaces and signs.
_NAMES: Final[Mapping[str, frozenset[str]]] = {
    "id": frozenset({"id", "guestid", "identifiant", "gastid", "kennung"}),
    "first_name": frozenset({"firstname", "givenname", "prenom", "vorname"}),
    "last_name": frozenset(
        {"lastname", "surname", "familyname", "nomdefamille", "nachname"}
        | {"familienname"}
    ),
    "name": frozenset(
        {"name", "fullname", "guest", "guestname", "nom", "nomcomplet", "invite"}
        | {"invitee", "gast", "gastname", "vollername"}
    ),
    "email": frozenset(
        {"email", "mail", "emailaddress", "courriel", "adressemail", "adresseemail"}
        | {"adresseelectronique", "emailadresse", "mailadresse"}
    ),
    "episode_id": frozenset(
        {"episode", "episodeid", "idepisode", "idepisodes", "folge", "folgenid"}
    ),
}


def read_guests(data: bytes) -> GuestTable:
    """Read a file of up to ``BYTES_MAX`` bytes and ``ROWS_MAX`` guests.

    Raises:
        InvalidInput: it cannot be read as a list of guests; the sentence says why.
    """
    if len(data) > BYTES_MAX:
        raise _no(say("The file is larger than %(n)s MB.", n=BYTES_MAX // 1000000))
    if data.startswith(WORKBOOKS):
        raise _no(say("This is a workbook; open it and save the sheet as CSV."))
    content = decoded(data)
    if not content.strip():
        raise _no(say("The file is empty."))
    if "\0" in content:
        raise _no(say("This is no CSV file; export the list as CSV first."))
    lines = io.StringIO(content, newline="")
    # Not strict, a quotation mark that is never closed would swallow the other guests.
    reader = csv.reader(lines, delimiter=delimiter_of(content), strict=True)
    try:
        columns = _columns(_first_row(reader))
        return GuestTable(columns, _rows(reader, columns))
    except csv.Error as error:
        raise _no(why(reader.line_num, error)) from error


def why(line: int, error: csv.Error) -> str:
    """Return a sentence about why a line cannot be read."""
    told = str(error)
    if "unexpected end" in told:
        return say("A cell begins with a quotation mark that is never closed.")
    if "expected after" in told:
        return say(
            "Line %(line)s has text after a closing quotation mark; write "
            'a quotation mark within a cell twice, as in "Zoe ""Zo"" Lee".',
            line=line,
        )
    if "field limit" in told:
        return say(
            "Line %(line)s cannot be read: it has a cell of more than %(max)s "
            "characters.",
            line=line,
            max=csv.field_size_limit(),
        )
    return say("Line %(line)s cannot be read: %(told)s.", line=line, told=told)


#: Why a row has more cells than there are columns.
TOO_MANY_CELLS: Final = mark(
    "It has %(n_cells)s cells, but the first line names %(n_columns)s "
    "columns; put a cell that holds the separator into quotation marks."
)


def decoded(data: bytes) -> str:
    """Return text in UTF-8, UTF-16 or, when it is neither, Latin 1 (Windows)."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    start = data[:1_000]
    if len(start) > 3 and start.count(0) > len(start) // 4:  # every other byte
        return data.decode("utf-16-le" if start[1] == 0 else "utf-16-be", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        # Of Latin 1's kin the one that programs on Windows write.
        return data.decode("cp1252", "replace")


def delimiter_of(content: str) -> str:
    """Return what separates the columns, judged by the first line.

    >>> delimiter_of('Name;E-Mail\\nMüller, Ida;ida@example.org')
    ';'
    """
    header = content.lstrip().split("\n", 1)[0]
    return max(_DELIMITERS, key=header.count)


def _first_row(reader: Any) -> list[str]:  # noqa: ANN401  # csv has no public type
    for row in reader:
        if any(cell.strip() for cell in row):
            if len(row) > _COLUMNS_MAX:
                raise _no(
                    say(
                        "The file has more than %(columns_max)s columns.",
                        columns_max=_COLUMNS_MAX,
                    )
                )
            return [text(cell, 80) for cell in row]
    raise _no(say("The file is empty."))


def _columns(headers: Sequence[str]) -> list[tuple[str, str]]:
    taken: set[str] = set()
    columns = []
    for header in headers:
        field = _field_of(header)
        if field in taken:
            field = ""  # of two the first counts
        taken.add(field)
        columns.append((header, field))
    if not taken & {"name", "last_name", "first_name"}:
        found = ", ".join(f"“{header}”" for header in headers[:6] if header)
        raise _no(
            say(
                "No column holds the names. The first line must name the "
                "columns, such as Name, E-mail; it has %(found)s.",
                found=found or say("nothing"),
            )
        )
    return columns


def _field_of(header: str) -> str:
    plain = unicodedata.normalize("NFKD", header.casefold())
    word = "".join(char for char in plain if char.isalnum())
    return next((field for field, names in _NAMES.items() if word in names), "")


def _rows(
    reader: Any,  # noqa: ANN401  # csv has no public type
    columns: Sequence[tuple[str, str]],
) -> list[GuestRow]:
    rows: list[GuestRow] = []
    line = reader.line_num + 1
    for cells in reader:
        values = {
            field: cell.strip()[:_CELL_MAX]
            for (_, field), cell in zip(columns, cells, strict=False)
            if field and cell.strip()
        }
        if any(cell.strip() for cell in cells[len(columns) :]):
            numbers = {"n_cells": len(cells), "n_columns": len(columns)}
            rows.append(GuestRow(line, _with_name(values), TOO_MANY_CELLS, numbers))
        elif values:
            rows.append(GuestRow(line, _with_name(values)))
        if len(rows) > ROWS_MAX:
            raise _no(
                say("The file has more than %(max)s guests; split it.", max=ROWS_MAX)
            )
        line = reader.line_num + 1
    if not rows:
        raise _no(say("The file names its columns, but no guests."))
    return rows


def _with_name(values: dict[str, str]) -> dict[str, str]:
    """Put the parts of a name together; beside a first name, “Name” is the last one."""
    first = values.pop("first_name", "")
    last = values.pop("last_name", "")
    name = values.pop("name", "")
    if first and not last:
        last, name = name, ""
    full = name or f"{first} {last}".strip()
    return {**values, "name": full} if full else values


def _no(sentence: str) -> InvalidInput:
    return InvalidInput("bad_guest_list", sentence, field="file")
