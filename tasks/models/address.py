"""The addresses of a congregation, where it is, and syncs with open data."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from sqlalchemy import JSON, Date, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, Json, OfCongregation, word
from tasks.models.long_job import IS_OPEN, LongJob

STREET_MAX: Final = 200  # characters
#: INSEE code and that of a former commune, street, number and suffix, with blanks.
KEY_MAX: Final = 240

_IS_MISSING: Final = "missing_since IS NOT NULL"
_IS_RUNNING: Final = "state = 'running'"


class Address(OfCongregation, Base):
    """A door: where it is, and whether open data still knows it.

    ``key`` is what four spellings of one address have in common
    (``tasks.congregation.addresses.keys``), and the order of lists.
    """

    __tablename__ = "addresses"
    __table_args__ = (
        UniqueConstraint("congregation_id", "key"),
        Index(
            "ix_addresses_missing",
            "congregation_id",
            "key",
            postgresql_where=text(_IS_MISSING),
            sqlite_where=text(_IS_MISSING),
        ),
    )

    id: Mapped[Id]
    #: Compared by its bytes on every database: sorting by a language's rules is slow.
    key: Mapped[str] = mapped_column(
        String(KEY_MAX).with_variant(String(KEY_MAX, collation="C"), "postgresql")
    )
    number: Mapped[str] = mapped_column(String(20))  # with its suffix, "12 bis"
    street: Mapped[str] = mapped_column(String(STREET_MAX))
    postcode: Mapped[str] = mapped_column(String(5), default="")  # empty: not told
    city: Mapped[str] = mapped_column(String(100), default="")
    insee: Mapped[str] = mapped_column(String(5))  # code of the commune
    lat: Mapped[float | None]  # WGS 84, degrees; None: both are unknown
    lon: Mapped[float | None]
    is_hand_placed: Mapped[bool] = mapped_column(default=False)  # syncs keep it there
    is_active: Mapped[bool] = mapped_column(default=True)  # whether it is worked on
    in_territory: Mapped[bool] = mapped_column(default=True)  # within the perimeter
    in_open_data: Mapped[bool] = mapped_column(default=False)  # in the last sync
    missing_since: Mapped[datetime | None]  # when a sync did not find it any more
    notes: Mapped[str] = mapped_column(String(2000), default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    #: The file's own id, which may outlive a new name of the street; None: not told.
    source_id: Mapped[str | None] = mapped_column(String(64))


class AddressArea(OfCongregation, Base):
    """Which addresses a congregation wants, and from where."""

    __tablename__ = "address_areas"

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True, sort_order=-1
    )
    postcodes: Mapped[list[str]] = mapped_column(JSON, default=list)
    communes: Mapped[list[str]] = mapped_column(JSON, default=list)  # INSEE codes
    urls: Mapped[list[str]] = mapped_column(JSON, default=list)
    #: A GeoJSON Polygon or MultiPolygon; None: everything is within.
    perimeter: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    version: Mapped[int] = mapped_column(default=1)
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)


class SyncKind(StrEnum):
    """What a sync does."""

    OPEN_DATA = "open_data"  # reads files of addresses
    PERIMETER = "perimeter"  # looks anew which addresses are within


class Sync(LongJob, Base):
    """One run over the addresses of a congregation."""

    __tablename__ = "syncs"
    __table_args__ = (
        Index(
            "uq_syncs_running",
            "congregation_id",
            unique=True,
            postgresql_where=text(_IS_RUNNING),
            sqlite_where=text(_IS_RUNNING),
        ),
        Index(
            "ix_syncs_open",
            "run_at",
            "id",
            postgresql_where=text(IS_OPEN),
            sqlite_where=text(IS_OPEN),
        ),
        Index(None, "congregation_id", "id"),
    )

    kind: Mapped[SyncKind] = mapped_column(word(SyncKind), default=SyncKind.OPEN_DATA)
    #: {"name": …, "size": …, "key": …} of an uploaded file, or {"name": …, "url": …}.
    sources: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
    #: Whether it is applied although it looks implausible; an operator said so.
    accepts: Mapped[bool] = mapped_column(default=False)
    has_files: Mapped[bool] = mapped_column(default=False)  # uploads are still kept
    report: Mapped[Json] = mapped_column(JSON, default=dict)
    data_from: Mapped[date | None] = mapped_column(Date)  # of the newest source
