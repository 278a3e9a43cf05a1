"""Campaigns of outreach: engagements that share a daily cap, and what a day has used.

Another thing than the campaigns of territories (``tasks.models.campaign``).
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Date, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, OfCongregation, tenant_key

#: A cap is at least 1: who wants none woken pauses the agent or the engagement.
CAP_MAX: Final = 100_000


class OutreachCampaign(OfCongregation, Base):
    """A name that engagements carry, known from its first use on."""

    __tablename__ = "outreach_campaigns"
    __table_args__ = (
        tenant_key("outreach_campaigns"),
        UniqueConstraint("congregation_id", "name"),
    )

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(80))
    daily_cap: Mapped[int | None]  # wake-ups a local day; None: any number
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class OutreachTally(OfCongregation, Base):
    """How many wake-ups a campaign, an agent or a contact had on one local day.

    Only what has a cap is counted.  The row is what workers that race for the last
    places lock, so a cap holds exactly.
    """

    __tablename__ = "outreach_tallies"
    __table_args__ = (Index(None, "day"),)

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True, sort_order=-1
    )
    subject_id: Mapped[UUID] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)  # the congregation's
    n: Mapped[int] = mapped_column(default=0)
