"""A list of guests as it is kept until an operator has looked at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.models.base import Json
from tasks.saying import mark

#: What operators read for our fields.
FIELD_WORDS: Final = (
    mark("id"),
    mark("name"),
    mark("email"),
    mark("episode id"),
)


@dataclass(frozen=True, slots=True)
class GuestRow:
    """One row of the file, by our fields; what is empty or not there is left out."""

    line: int  # in the file, counted from 1
    values: Mapping[str, str]
    trouble: str = ""  # why it cannot be read, as a marked text; empty: it can
    numbers: Mapping[str, int] = field(default_factory=dict)  # that it names


@dataclass(frozen=True, slots=True)
class GuestTable:
    """What a file holds."""

    columns: Sequence[tuple[str, str]]  # header -> our field; empty: it is not read
    rows: Sequence[GuestRow]

    def as_json(self) -> Json:
        """Return it as it is stored."""
        return {
            "columns": [list(pair) for pair in self.columns],
            "rows": [
                [row.line, dict(row.values), row.trouble, dict(row.numbers)]
                for row in self.rows
            ],
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> GuestTable:
        """Return what ``as_json`` stored."""
        return cls(
            [(header, into) for header, into in stored["columns"]],
            [GuestRow(*row) for row in stored["rows"]],
        )
