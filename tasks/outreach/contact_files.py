"""A file of contacts as an operator uploads it: its rows, where each one stands, and
what the file looked like to us.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tasks.errors import InvalidInput
from tasks.models.base import Json
from tasks.outreach.import_rows import Line, ListRow, RowOutcome, checked_row
from tasks.saying import say

FILE_BYTES_MAX: Final = 5_000_000
FILE_ROWS_MAX: Final = 20_000
_INSTANT: Final = "next_action_at"


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file, not checked yet."""

    place: int  # its line in a CSV file, its number in a JSON file; from 1
    values: Mapping[str, Any]  # by our fields, as JSON
    trouble: str = ""  # why it cannot be read, as a marked text; empty: it can
    numbers: Mapping[str, int] = field(default_factory=dict)  # that it names


@dataclass(frozen=True, slots=True)
class ContactFile:
    """What a file holds."""

    unit: str  # what ``place`` counts: Line or Entry
    read_as: str  # its encoding, or JSON
    columns: Sequence[tuple[str, str]]  # header -> our field; empty: it is not read
    rows: Sequence[FileRow]
    separators: str = ""  # what stands between columns, a word in the plural

    def as_json(self) -> Json:
        """Return it as it is stored."""
        return {
            "unit": self.unit,
            "read_as": self.read_as,
            "columns": [list(pair) for pair in self.columns],
            "rows": [
                [row.place, dict(row.values), row.trouble, dict(row.numbers)]
                for row in self.rows
            ],
            "separators": self.separators,
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> ContactFile:
        """Return what ``as_json`` stored."""
        return cls(
            stored["unit"],
            stored["read_as"],
            [(header, into) for header, into in stored["columns"]],
            [FileRow(*row) for row in stored["rows"]],
            stored["separators"],
        )

    @property
    def told_as(self) -> str:
        """How it was read, for operators, who see there why a name looks odd."""
        if not self.separators:
            return self.read_as
        return say(
            "%(encoding)s, columns separated by %(separators)s",
            encoding=self.read_as,
            separators=say(self.separators),
        )

    def where(self, row: FileRow, named: str | None) -> str:
        """Return where something stands, as in ``Line 3, column “E-mail”``."""
        header = next(
            (name for name, into in self.columns if named and into == named), ""
        )
        place = _at(self.unit, row.place)
        if not header:
            return place
        return say("%(place)s, column “%(header)s”", place=place, header=header)


def _at(unit: str, place: int) -> str:
    return f"{say(unit)} {place}"


def check_length(n_rows: int) -> None:
    """Refuse a file with more rows than are taken at once, or with none.

    Raises:
        InvalidInput: it has.
    """
    if n_rows > FILE_ROWS_MAX:
        raise no_list(
            say("The file has more than %(max)s contacts; split it.", max=FILE_ROWS_MAX)
        )
    if not n_rows:
        raise no_list(say("The file holds no contacts."))


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
        raise InvalidInput("bad_row", say(row.trouble, **row.numbers))
    if not row.values.get("address"):
        raise InvalidInput("required", say("There is no address."), field="address")
    found = checked_row(number, _with_instant(row.values), enrols=enrols)
    if (at := first.setdefault(found.address, row.place)) != row.place:
        raise InvalidInput(
            "listed_twice",
            say(
                "The same address as in %(place)s, which counts.",
                place=_at(file.unit, at).lower(),
            ),
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
