"""Campaigns: some weeks in which other work than usual is done."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Date, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    Json,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)


class CampaignState(StrEnum):
    """Where a campaign is in its life; told by its stamps, never by the clock."""

    SCHEDULED = "scheduled"
    ACTIVE = "active"
    ENDED = "ended"
    MISSED = "missed"  # nobody was there on any of its days; nothing was touched


class StartAction(StrEnum):
    """What becomes of regular work when the campaign starts."""

    PAUSE = "pause"
    CLOSE = "close"
    LEAVE = "leave"


class EndAction(StrEnum):
    """What becomes of the regular work that it paused when the campaign ends."""

    RESUME = "resume"
    KEEP_PAUSED = "keep_paused"
    CLOSE = "close"


_IS_ACTIVE = "activated_at IS NOT NULL AND ended_at IS NULL"
_IS_UNDECIDED = "ended_at IS NULL AND missed_at IS NULL"


class Campaign(OfCongregation, Base):
    """A window of local days, and what it does to the work on territories."""

    __tablename__ = "campaigns"
    __table_args__ = (
        tenant_key("campaigns"),
        Index(None, "congregation_id", "starts_on", "id"),
        # Two active ones at once would pause each other's work.
        Index(
            "uq_campaigns_active",
            "congregation_id",
            unique=True,
            postgresql_where=text(_IS_ACTIVE),
            sqlite_where=text(_IS_ACTIVE),
        ),
        Index(
            "ix_campaigns_undecided",
            "starts_on",
            "id",
            postgresql_where=text(_IS_UNDECIDED),
            sqlite_where=text(_IS_UNDECIDED),
        ),
    )

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(120))
    notes: Mapped[str] = mapped_column(String(2000), default="")
    starts_on: Mapped[date] = mapped_column(Date)
    ends_on: Mapped[date] = mapped_column(Date)  # the last day, inclusive
    #: How long a territory rests afterwards, in days; None: the usual time.
    rest_days: Mapped[int | None]
    start_action: Mapped[StartAction] = mapped_column(
        word(StartAction), default=StartAction.PAUSE
    )
    #: Whether who is paused gets the same territory for the campaign.
    reassigns: Mapped[bool] = mapped_column(default=False)
    closes_work: Mapped[bool] = mapped_column(default=True)  # its own, at its end
    end_action: Mapped[EndAction] = mapped_column(
        word(EndAction), default=EndAction.RESUME
    )
    activated_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    missed_at: Mapped[datetime | None]
    #: What start and end did: counts, and pairs that could not be given out.
    report: Mapped[Json] = mapped_column(default=dict)
    version: Mapped[int] = mapped_column(default=1)
    created_by: Mapped[str] = mapped_column(String(255), default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    @property
    def state(self) -> CampaignState:
        """Where it is in its life."""
        if self.ended_at is not None:
            return CampaignState.ENDED
        if self.missed_at is not None:
            return CampaignState.MISSED
        if self.activated_at is not None:
            return CampaignState.ACTIVE
        return CampaignState.SCHEDULED


class CampaignTerritory(PartOfCongregation, Base):
    """That a territory is in a campaign's scope; none at all means every one."""

    __tablename__ = "campaign_territories"
    __table_args__ = (
        within_congregation("campaign_id", "campaigns", ondelete="CASCADE"),
        within_congregation("territory_id", "territories", ondelete="CASCADE"),
        Index(None, "territory_id"),
    )

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    territory_id: Mapped[UUID] = mapped_column(primary_key=True)
