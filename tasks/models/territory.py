"""Territories, and who works on them."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Date, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    OfCongregation,
    tenant_key,
    within_congregation,
    word,
)


class TerritoryKind(StrEnum):
    """How a territory is worked."""

    DOOR_TO_DOOR = "door_to_door"
    CAMPUS = "campus"
    SHOPS = "shops"
    PHONE = "phone"
    HOTEL = "hotel"


class Method(StrEnum):
    """How a member works on a territory."""

    DEFAULT = "default"
    PHONE = "phone"


class Territory(OfCongregation, Base):
    """A piece of ground that members are given to work on."""

    __tablename__ = "territories"
    __table_args__ = (
        tenant_key("territories"),
        UniqueConstraint("congregation_id", "number"),
    )

    id: Mapped[Id]
    number: Mapped[str] = mapped_column(String(32))  # as printed on its card
    kind: Mapped[TerritoryKind] = mapped_column(
        word(TerritoryKind), default=TerritoryKind.DOOR_TO_DOOR
    )
    name: Mapped[str] = mapped_column(String(120), default="")
    notes: Mapped[str] = mapped_column(String(2000), default="")
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


_IS_OPEN = "ended_on IS NULL"


class Attribution(OfCongregation, Base):
    """That a member works on a territory.

    There are two layers that never get into each other's way: the regular one, and
    that of each campaign.  Days are the congregation's local days.
    """

    __tablename__ = "attributions"
    __table_args__ = (
        within_congregation("member_id", "members"),
        within_congregation("territory_id", "territories"),
        within_congregation("campaign_id", "campaigns"),
        within_congregation("paused_by_id", "campaigns"),
        tenant_key("attributions"),
        Index(None, "congregation_id", "territory_id", "started_on"),
        Index(None, "congregation_id", "member_id", "started_on"),
        Index(None, "campaign_id"),
        Index(None, "paused_by_id"),
        # What campaigns move, and what is overdue.
        Index(
            "ix_attributions_open",
            "congregation_id",
            "due_on",
            "id",
            postgresql_where=text(_IS_OPEN),
            sqlite_where=text(_IS_OPEN),
        ),
    )

    id: Mapped[Id]
    territory_id: Mapped[UUID]
    member_id: Mapped[UUID]
    method: Mapped[Method] = mapped_column(word(Method), default=Method.DEFAULT)
    started_on: Mapped[date] = mapped_column(Date)
    ended_on: Mapped[date | None] = mapped_column(Date)  # None: open
    due_on: Mapped[date] = mapped_column(Date)  # the last day that is not late
    notes: Mapped[str] = mapped_column(String(2000), default="")
    campaign_id: Mapped[UUID | None]  # None: the regular layer
    #: Paused work is still held, hidden and never overdue; None: it goes on.
    paused_on: Mapped[date | None] = mapped_column(Date)
    paused_by_id: Mapped[UUID | None]  # the campaign that paused it; None: a person
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    @property
    def is_open(self) -> bool:
        """Whether the member still has it."""
        return self.ended_on is None
