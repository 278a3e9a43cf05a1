"""What every table shares: the base class, the column types, the tenant's mark."""

from __future__ import annotations

import itertools
import secrets
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

import uuid_utils.compat
from sqlalchemy import (
    JSON,
    DateTime,
    Enum,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    String,
    Text,
    Uuid,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

#: Ids that producers choose: letters, digits and ``_ - . : @``, at most this long.
EXTERNAL_ID_MAX = 64


_counter = itertools.count()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware instant in UTC; a naive one is refused, since it means nothing."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(
        self, value: datetime | None, dialect: Dialect
    ) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive datetime {value!r}; give an aware one")
        return value.astimezone(UTC)

    def process_result_value(
        self, value: datetime | None, dialect: Dialect
    ) -> datetime | None:
        if value is None:
            return None
        # SQLite gives back naive values; what went in was UTC.
        return (
            value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        )


def new_id(at: datetime | None = None) -> UUID:
    """Return a new id that sorts by its time of birth (UUIDv7, RFC 9562).

    Args:
        at: the birth; ``None``: now.  Ids of one millisecond rise in the order in which
            this process makes them.
    """
    if at is None:
        return uuid_utils.compat.uuid7()
    count = next(_counter)
    low = (count & 0x3FFF) << 48 | secrets.randbits(48)
    high = 0x7 << 12 | count >> 14 & 0xFFF
    return UUID(int=_milliseconds(at) << 80 | high << 64 | 0x2 << 62 | low)


def born_from(at: datetime) -> UUID:
    """Return the smallest id of what is born at ``at`` or later, to the millisecond.

    No id is older than 1970, whatever day is asked for.
    """
    return UUID(int=max(_milliseconds(at), 0) << 80 | 0x7 << 76 | 0x2 << 62)


def born_at(id_: UUID) -> datetime:
    """Return when an id was made, to the millisecond."""
    return _EPOCH + _MILLISECOND * (id_.int >> 80)


def _milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND


#: An id of ours, made by the writer so that rows of several tables go in one batch.
Id = Annotated[UUID, mapped_column(Uuid, primary_key=True, default=new_id)]
#: An id that a producer chose; unique within its congregation only.
ExternalId = Annotated[str, mapped_column(String(EXTERNAL_ID_MAX))]
Json = dict[str, Any]


class Base(DeclarativeBase):
    """The one declarative base of engine and console."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcDateTime,
        Json: JSON,
        UUID: Uuid,
        str: Text,
    }


class OfCongregation:
    """A row that belongs to a congregation; scoped sessions filter by this column."""

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), sort_order=-1
    )


class PartOfCongregation(OfCongregation):
    """A row whose congregation is vouched for by the foreign key to what it is part of.

    A second key to the congregation itself would be looked up for every row written.
    """

    congregation_id: Mapped[UUID] = mapped_column(sort_order=-1)


class EntityOfCongregation(OfCongregation):
    """A row whose id its producer chose: unique only together with its congregation."""

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True, sort_order=-2
    )
    id: Mapped[str] = mapped_column(
        String(EXTERNAL_ID_MAX), primary_key=True, sort_order=-1
    )


def within_congregation(
    column: str, table: str, *, ondelete: str | None = None
) -> ForeignKeyConstraint:
    """Return a foreign key that cannot cross from one congregation to another."""
    return ForeignKeyConstraint(
        ["congregation_id", column],
        [f"{table}.congregation_id", f"{table}.id"],
        ondelete=ondelete,
    )


def tenant_key(table: str) -> Index:
    """Return the key of a table that :func:`within_congregation` refers to.

    An index and no constraint, so that migrations choose its place among the table's
    other indexes.  To PostgreSQL all that begin with the congregation look alike while
    a table is young, and it takes the newest; it checks a foreign key with the plan
    that it made then, until the first ANALYZE.  With any other index each check would
    read all the congregation's rows.  SQLite takes the newest as well, for whatever is
    asked within a congregation: there the key comes first.
    """
    return Index(f"uq_{table}_congregation_id_id", "congregation_id", "id", unique=True)


def word(enum: type[StrEnum]) -> Enum:
    """Return a column type that stores an enum's words, readable in plain SQL."""
    return Enum(
        enum,
        native_enum=False,
        length=32,
        create_constraint=False,
        values_callable=lambda kind: [member.value for member in kind],
    )
