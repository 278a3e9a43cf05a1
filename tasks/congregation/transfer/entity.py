"""What an entity of an archive is: one table that travels, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    ForeignKeyConstraint,
    Table,
    UniqueConstraint,
)

from tasks.models.base import Base

#: A row on its way: column -> value.
Row = dict[str, Any]
_TENANT: Final = "congregation_id"


@dataclass(frozen=True)
class Unique:
    """Columns that no two rows of a congregation have in common."""

    columns: tuple[str, ...]
    #: Whether a row counts at all, here and in SQL; None: it does.
    counts: Callable[[Row], bool] | None = None
    where: ColumnElement[bool] | None = None


@dataclass(frozen=True)
class Spans:
    """Columns with the first and last day of a window that is a row's alone."""

    first: str
    last: str
    #: Whether a row counts at all, here and in SQL.
    counts: Callable[[Row], bool]
    where: ColumnElement[bool]


@dataclass(frozen=True, eq=False)
class Entity:
    """One table that travels."""

    model: type[Base]
    #: By what a row is recognised that no earlier import had brought; none: never.
    key: tuple[str, ...] = ()
    #: Columns that stay: how far our own work on the row is.
    omits: frozenset[str] = frozenset()
    #: Columns that are made of others, so that they can be trusted.
    derives: Mapping[str, Callable[[Row], Any]] = field(default_factory=dict)
    #: Values that are looked at; may raise InvalidInput, with the end of a sentence.
    cleans: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    #: What rows must be besides their columns: a field and a sentence, or None.
    checks: Callable[[Row], tuple[str, str] | None] | None = None
    #: A column that means a row of one or another entity, as a second one says.
    means: tuple[str, str, Mapping[str, str]] | None = None
    #: More that must be unique, besides what the table's constraints say.
    uniques_more: tuple[Unique, ...] = ()
    #: Days that no two rows share.
    spans: Spans | None = None
    #: Columns in which new rows are compared with ours, to warn of people twice.
    alike: tuple[str, ...] = ()
    #: Left out when it is about somebody who was anonymised here.
    is_about_people: bool = False
    #: Travels only together with the files.
    needs_files: bool = False

    @cached_property
    def columns(self) -> tuple[Column[Any], ...]:
        """The columns that travel."""
        return tuple(
            column
            for column in self.table.columns
            if column.name != _TENANT and column.name not in self.omits
        )

    @property
    def table(self) -> Table:
        """The table itself."""
        table = self.model.__table__
        assert isinstance(table, Table)  # noqa: S101  # narrows the type
        return table

    @cached_property
    def name(self) -> str:
        """What it is called in archives: its table's name, with hyphens."""
        return self.table.name.replace("_", "-")

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The columns that tell its rows apart within a congregation."""
        return tuple(c.name for c in self.table.primary_key if c.name != _TENANT)

    @cached_property
    def has_id(self) -> bool:
        """Whether its rows have an id of their own, which others may refer to."""
        return self.identity == ("id",)

    @cached_property
    def references(self) -> Mapping[str, str]:
        """Column -> name of the entity that it refers to."""
        found = {}
        for constraint in self.table.constraints:
            if isinstance(constraint, ForeignKeyConstraint):
                for element in constraint.elements:
                    column, target = element.parent.name, element.column.table.name
                    if column != _TENANT and column not in self.omits:
                        found[column] = target.replace("_", "-")
        return found

    @cached_property
    def uniques(self) -> Sequence[Unique]:
        """What no two of its rows have in common, its id aside."""
        found = [self.identity] if not self.has_id and self.identity else []
        found.extend(
            tuple(c.name for c in constraint.columns if c.name != _TENANT)
            for constraint in self.table.constraints
            if isinstance(constraint, UniqueConstraint)
        )
        return [*(Unique(each) for each in found), *self.uniques_more]

    @property
    def natural(self) -> tuple[str, ...]:
        """The columns by which a row is found that no earlier import had brought."""
        return self.key if self.has_id else self.identity

    @cached_property
    def is_single(self) -> bool:
        """Whether a congregation has at most one row of it."""
        return not self.identity
