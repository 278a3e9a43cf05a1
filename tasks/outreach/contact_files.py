"""A file of contacts as an operator uploads it: its rows, where each one stands, and
what the file looked like to us.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tasks.errors import InvalidInput
from tasks.models.base import Json
from tasks.outreach.import_rows import Line, ListRow, RowOutcome, checked_row

FILE_BYTES_MAX: Final = 5_000_000
FILE_ROWS_MAX: Final = 20_000
_INSTANT: Final = "next_action_at"


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file, not checked yet."""

    place: int  # its line in a CSV file, its number in a JSON file; from 1
    values: Mapping[str, Any]  # by our fields, as JSON
    trouble: str = ""  # why it cannot be read; empty: it can


@dataclass(frozen=True, slots=True)
class ContactFile:
    """What a file holds."""

    unit: str  # what ``place`` counts: Line or Entry
    read_as: str  # for operators, who see there why a name looks odd
    columns: Sequence[tuple[str, str]]  # header -> our field; empty: it is not read
    rows: Sequence[FileRow]

    def as_json(self) -> Json:
        """Return it as it is stored."""
        return {
            "unit": self.unit,
            "read_as": self.read_as,
            "columns": [list(pair) for pair in self.columns],
            "rows": [[row.place, dict(row.values), row.trouble] for row in self.rows],
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> ContactFile:
        """Return what ``as_json`` stored."""
        return cls(
            stored["unit"],
            stored["read_as"],
            [(header, field) for header, field in stored["columns"]],
            [FileRow(*row) for row in stored["rows"]],
        )

    def where(self, row: FileRow, field: str | None) -> str:
        """Return where something stands, as in ``Line 3, column “E-mail”``."""
        header = next(
            (name for name, into in self.columns if field and into == field), ""
        )
        return f"{self.unit} {row.place}" + (f", column “{header}”" if header else "")


def check_length(n_rows: int) -> None:
    """Refuse a file with more rows than are taken at once, or with none.

    Raises:
        InvalidInput: it has.
    """
    if n_rows > FILE_ROWS_MAX:
        raise no_list(f"The file has more than {FILE_ROWS_MAX:,} contacts; split it.")
    if not n_rows:
        raise no_list("The file holds no contacts.")


def checked_rows(file: ContactFile, *, enrols: bool) -> list[ListRow | Line]:
    """Check every row alone; of two with one address the first counts.

    Their numbers are counted from 1, in the order of ``file.rows``.
    """
    first: dict[str, int] = {}  # address -> where it stands first
    found: list[ListRow | Line] = []
    for number, row in enumerate(file.rows, 1):
        try:
            found.append(_checked(file, number, row, first, enrols=enrols))
        except InvalidInput as error:
            address = str(row.values.get("address") or "")[:254]
            found.append(Line(number, address, RowOutcome.REFUSED, error))
    return found


def _checked(
    file: ContactFile, number: int, row: FileRow, first: dict[str, int], *, enrols: bool
) -> ListRow:
    if row.trouble:
        raise InvalidInput("bad_row", row.trouble)
    if not row.values.get("address"):
        raise InvalidInput("required", "There is no address.", field="address")
    found = checked_row(number, _with_instant(row.values), enrols=enrols)
    if (at := first.setdefault(found.address, row.place)) != row.place:
        raise InvalidInput(
            "listed_twice",
            f"The same address as in {file.unit.lower()} {at}, which counts.",
            field="address",
        )
    return found


def _with_instant(values: Mapping[str, Any]) -> Mapping[str, object]:
    """Read the row's instant; what is none stays text, so that its row is refused."""
    given = values.get(_INSTANT)
    if not isinstance(given, str):
        return values
    try:
        return {**values, _INSTANT: datetime.fromisoformat(given.strip())}
    except ValueError:
        return values


def no_list(sentence: str) -> InvalidInput:
    """Return the refusal of a whole file."""
    return InvalidInput("bad_contact_list", sentence, field="file")
