"""One filtered list, as exports and the numbers of views read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Select

from dashboard.exports.columns import Columns
from dashboard.exports.files import Row
from dashboard.paging import Key
from dashboard.search.reading import Search

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """One filtered list."""

    search: Search
    statement: Select[*tuple[Any, ...]]  # its first column is the row itself
    kind: Callable[..., Any]  # makes of what the statement selects what columns take
    columns: Columns
    keys: tuple[Key, ...]  # as the list is read, mostly newest first
    id: Any  # the column with the row's id

    def row(self, found: Any) -> Row:  # noqa: ANN401  # a row of the statement
        """Return what is written of one row."""
        line = self.kind(*found)
        return {name: value(line) for name, value in self.columns.items()}

    @property
    def ids(self) -> Select[UUID]:
        """The ids of the rows alone, to be counted."""
        ids: Select[UUID] = self.statement.with_only_columns(
            self.id, maintain_column_froms=True
        )
        return ids
