"""What a register of personal data is made of: people, tables, and columns' fates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Table

from tasks.models.base import Base


@dataclass(frozen=True, slots=True)
class People:
    """Members of one congregation, and what of other tables belongs to them."""

    congregation_id: UUID
    locale: str
    now: datetime
    members: Sequence[UUID]
    accounts: Sequence[UUID] = ()
    addresses: Sequence[str] = ()  # e-mail addresses, normalised
    #: Audit subjects about them alone: kind -> ids as text.
    subjects: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Erase:
    """The column becomes empty: NULL where it may be, else "" or false."""


@dataclass(frozen=True, slots=True)
class Keep:
    """The column stays as it is."""

    because: str


@dataclass(frozen=True, slots=True)
class Derive:
    """The column gets a value that says nothing of the person."""

    value: Callable[[UUID, People], object]  # of the row's id


Fate = Erase | Keep | Derive
Whose = Callable[[People], ColumnElement[bool]]


@dataclass(frozen=True, slots=True)
class Personal:
    """A table with rows about people."""

    model: type[Base]
    whose: Whose  # which rows are theirs
    #: The fate of every column; None: their rows are removed altogether.
    columns: Mapping[str, Fate] | None = None

    @property
    def table(self) -> Table:
        """The table itself."""
        return Base.metadata.tables[self.model.__tablename__]


@dataclass(frozen=True, slots=True)
class Texts:
    """Columns of a table in which people write about others."""

    model: type[Base]
    columns: Sequence[str]
    where: ColumnElement[bool] | None = None  # rows worth a look; None: all

    @property
    def table(self) -> Table:
        """The table itself."""
        return Base.metadata.tables[self.model.__tablename__]
