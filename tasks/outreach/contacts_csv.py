"""Reading a list of contacts from a CSV file, whatever program wrote it."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from tasks.errors import InvalidInput
from tasks.saying import mark, say
from tasks.sources.guests_csv import decoded, delimiter_of

_CELL_MAX: Final = 500  # characters; the fields' own limits are lower
#: Rows that are read at most; more than a list may have, so that it can be told.
_ROWS_MAX: Final = 1_001
#: Our field -> how columns are called, without accents, spaces and signs.
_NAMES: Final[Mapping[str, frozenset[str]]] = {
    "address": frozenset(
        {"address", "email", "mail", "emailaddress", "courriel", "adresseemail"}
        | {"emailadresse", "mailadresse", "adressemail"}
    ),
    "display_name": frozenset(
        {"displayname", "name", "fullname", "contact", "nom", "nomcomplet"}
        | {"vollername", "anzeigename"}
    ),
    "stage": frozenset({"stage", "etape", "phase", "stufe"}),
    "next_action_at": frozenset({"nextactionat", "nextaction", "due"}),
}


#: What operators read for our fields.
FIELD_WORDS: Final = (
    mark("address"),
    mark("display name"),
    mark("stage"),
    mark("next action at"),
)


def read_contacts(data: bytes) -> list[dict[str, object]]:
    """Return the rows of a file, by our fields; empty cells are left out.

    An instant that cannot be read stays text, so that its row alone is refused.

    Raises:
        InvalidInput: it is no CSV file, or no column holds the addresses.
    """
    content = decoded(data)
    if not content.strip() or "\0" in content:
        raise _no(
            say("The file is empty or no CSV file; export the list as CSV first.")
        )
    reader = csv.reader(
        io.StringIO(content, newline=""), delimiter=delimiter_of(content)
    )
    try:
        columns = _columns(next(reader, []))
        return _rows(reader, columns)
    except csv.Error as error:
        raise _no(
            say(
                "Line %(line)s cannot be read: %(error)s.",
                line=reader.line_num,
                error=error,
            )
        ) from error


def _columns(headers: Sequence[str]) -> list[str]:
    columns: list[str] = []
    for header in headers:
        field = field_of(header)
        columns.append("" if field in columns else field)  # of two the first counts
    if "address" not in columns:
        found = ", ".join(f"“{header.strip()[:40]}”" for header in headers[:6])
        raise _no(
            say(
                "No column holds the addresses. The first line must name the "
                "columns, such as Name, E-mail; it has %(found)s.",
                found=found or say("nothing"),
            )
        )
    return columns


def field_of(header: str) -> str:
    """Return our field that a column's name means; empty: none."""
    plain = unicodedata.normalize("NFKD", header.casefold())
    word = "".join(char for char in plain if char.isalnum())
    return next((field for field, names in _NAMES.items() if word in names), "")


def _rows(
    reader: Any,  # noqa: ANN401  # csv has no public type
    columns: Sequence[str],
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for cells in reader:
        values = {
            field: _value(field, cell.strip()[:_CELL_MAX])
            for field, cell in zip(columns, cells, strict=False)
            if field and cell.strip()
        }
        if values:
            rows.append(values)
        if len(rows) >= _ROWS_MAX:
            break
    return rows


def _value(field: str, cell: str) -> object:
    if field != "next_action_at":
        return cell
    try:
        return datetime.fromisoformat(cell)
    except ValueError:
        return cell


def _no(sentence: str) -> InvalidInput:
    return InvalidInput("bad_contact_list", sentence, field="file")
