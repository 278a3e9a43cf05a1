"""Which tables travel in an archive, and which never do.

A new table of a congregation is one row here: in ``ENTITIES``, behind what it refers
to, or in ``STAYS`` with the reason.  A test refuses a table that is in neither.  What
refers to what, and what must be unique, is read from the tables themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Column, ForeignKeyConstraint, Table, UniqueConstraint

from tasks.congregation.names import folded
from tasks.errors import InvalidInput
from tasks.models import (
    Account,
    AccountDuty,
    Attribution,
    Base,
    Campaign,
    CampaignTerritory,
    Consent,
    Duty,
    EmergencyContact,
    Erased,
    Erasure,
    Group,
    GroupMember,
    Member,
    Territory,
)
from tasks.models.address import Address, AddressArea
from tasks.models.document import BoardSection, Document, DocumentVersion, StoredFile
from tasks.models.notification import NotificationPreference
from tasks.outbound.mailboxes import BadAddress, normal_address

#: A row on its way: column -> value.
Row = dict[str, Any]
_TENANT: Final = "congregation_id"


@dataclass(frozen=True)
class Unique:
    """Columns that no two rows of a congregation have in common."""

    columns: tuple[str, ...]
    #: Whether a row counts at all; None: it does.
    counts: Callable[[Row], bool] | None = None


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
    #: Texts that are looked at; may raise InvalidInput.
    cleans: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    #: What rows must be besides their columns: a field and a sentence, or None.
    checks: Callable[[Row], tuple[str, str] | None] | None = None
    #: A column that means a row of one or another entity, as a second one says.
    means: tuple[str, str, Mapping[str, str]] | None = None
    #: More that must be unique, besides what the table's constraints say.
    uniques_more: tuple[Unique, ...] = ()
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
        for constraint in self.table.constraints:
            if isinstance(constraint, UniqueConstraint):
                names = tuple(c.name for c in constraint.columns if c.name != _TENANT)
                if names != ("id",):
                    found.append(names)
        return [*(Unique(each) for each in found), *self.uniques_more]

    @cached_property
    def is_single(self) -> bool:
        """Whether a congregation has at most one row of it."""
        return not self.identity


def _search_name(row: Row) -> str:
    return folded(f"{row['last_name']} {row['first_name']}")[:255]


def _address(text: str) -> str:
    try:
        return normal_address(text) if text else ""
    except BadAddress as error:
        raise InvalidInput("bad_address", "is no e-mail address") from error


def _needed_address(text: str) -> str:
    if not text:
        raise InvalidInput("bad_address", "is empty")
    return _address(text)


def _is_in_order(first: str, last: str) -> Callable[[Row], tuple[str, str] | None]:
    def check(row: Row) -> tuple[str, str] | None:
        if row[last] is not None and row[last] < row[first]:
            return last, f"is before “{first}”"
        return None

    return check


def _is_active(row: Row) -> bool:
    return row["activated_at"] is not None and row["ended_at"] is None


#: Every table that travels, each behind what it refers to.
ENTITIES: Final = (
    Entity(
        Member,
        derives={"search_name": _search_name},
        cleans={"email": _address},
        alike=("search_name", "birth_date"),
    ),
    Entity(EmergencyContact, is_about_people=True),
    Entity(Group, key=("name",)),
    Entity(GroupMember, is_about_people=True),
    Entity(
        Account,
        key=("email",),
        cleans={"email": _needed_address},
        is_about_people=True,
    ),
    Entity(Duty, key=("key",)),
    Entity(AccountDuty, is_about_people=True),
    Entity(NotificationPreference, is_about_people=True),
    Entity(Consent, is_about_people=True),
    Entity(Territory, key=("number",)),
    Entity(
        Campaign,
        key=("name", "starts_on"),
        checks=_is_in_order("starts_on", "ends_on"),
        uniques_more=(Unique((), _is_active),),
    ),
    Entity(CampaignTerritory),
    Entity(Attribution, checks=_is_in_order("started_on", "ended_on")),
    Entity(AddressArea),
    Entity(Address, key=("key",)),
    Entity(BoardSection, key=("name",)),
    Entity(
        StoredFile,
        key=("sha256",),
        needs_files=True,
        omits=frozenset(
            {
                "key",
                "thumbnail_state",
                "thumbnail_reason",
                "thumbnail_key",
                "thumbnail_width",
                "thumbnail_height",
                "thumbnail_at",
                "run_at",
                "attempt",
                "failures",
                "lease_until",
            }
        ),
    ),
    Entity(
        Document,
        needs_files=True,
        derives={"search_title": lambda row: folded(row["title"])[:200]},
    ),
    Entity(DocumentVersion, needs_files=True),
    Entity(
        Erasure,
        key=("entity_type", "entity_id"),
        means=(
            "entity_id",
            "entity_type",
            {Erased.MEMBER: "members", Erased.ACCOUNT: "accounts"},
        ),
    ),
)

BY_NAME: Final[Mapping[str, Entity]] = MappingProxyType(
    {entity.name: entity for entity in ENTITIES}
)
#: Place of an entity in the order of archives.
PLACE: Final[Mapping[str, int]] = MappingProxyType(
    {entity.name: place for place, entity in enumerate(ENTITIES)}
)
