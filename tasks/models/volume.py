"""How many executions rules make in an hour, and when that is too many."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    OfCongregation,
    PartOfCongregation,
    within_congregation,
)


class RuleVolume(PartOfCongregation, Base):
    """How many executions whose effect leaves the house a rule made in one hour."""

    __tablename__ = "rule_volumes"
    __table_args__ = (within_congregation("rule_id", "rules"),)

    rule_id: Mapped[UUID] = mapped_column(primary_key=True)
    hour: Mapped[datetime] = mapped_column(primary_key=True)  # its start
    n: Mapped[int]


class VolumeLimit(OfCongregation, Base):
    """What an operator said about a rule's volume; no row: its history decides."""

    __tablename__ = "volume_limits"
    __table_args__ = (within_congregation("rule_id", "rules"),)

    rule_id: Mapped[UUID] = mapped_column(primary_key=True)
    hold_above: Mapped[int | None]  # executions an hour; None: it is never held
    set_by: Mapped[str] = mapped_column(String(255))
    set_at: Mapped[datetime] = mapped_column(default=utcnow)


class VolumeLook(Base):
    """Until when the lane ``volumes`` has counted; one row."""

    __tablename__ = "volume_looks"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    counted_until: Mapped[datetime]
