"""Rules: when this happens, do that."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    ExternalId,
    Id,
    Json,
    OfCongregation,
    within_congregation,
    word,
)


class OffsetUnit(StrEnum):
    """The unit of a time rule's offset."""

    MINUTES = "minutes"  # elapsed time
    HOURS = "hours"  # elapsed time: 24 hours are 24 hours across a DST change
    DAYS = "days"  # calendar days: the wall clock of the booking's timezone is kept


class LatePolicy(StrEnum):
    """What becomes of a before-rule's job whose instant passed before it existed."""

    SKIP = "skip"  # keep the row as skipped/offset_in_past
    SEND_NOW = "send_now"  # send at once, if the event itself is still ahead


class Rule(OfCongregation, Base):
    """What an operator wants to happen, and when."""

    __tablename__ = "rules"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        UniqueConstraint("congregation_id", "id"),
        Index(None, "congregation_id", "trigger_type"),
        Index(None, "congregation_id", "podcast_id"),
    )

    id: Mapped[Id]
    podcast_id: Mapped[ExternalId | None]  # None: every podcast of the congregation
    name: Mapped[str] = mapped_column(String(120))
    enabled: Mapped[bool] = mapped_column(default=True)
    trigger_type: Mapped[str] = mapped_column(String(64))  # a key of TRIGGERS
    #: Distance from the reference instant; 0 or more, read only for time.* triggers.
    offset_value: Mapped[int] = mapped_column(default=0)
    offset_unit: Mapped[OffsetUnit] = mapped_column(
        word(OffsetUnit), default=OffsetUnit.HOURS
    )
    late_policy: Mapped[LatePolicy] = mapped_column(
        word(LatePolicy), default=LatePolicy.SKIP
    )
    action: Mapped[str] = mapped_column(String(32))  # a key of ACTIONS
    #: What the action needs, in the action's own words (see its settings class).
    settings: Mapped[Json] = mapped_column(default=dict)
    #: The webhook's signing secret, encrypted (tasks.secrets); None: not signed yet.
    secret: Mapped[str | None]
    max_attempts: Mapped[int] = mapped_column(default=5)  # 1 to 20
    version: Mapped[int] = mapped_column(default=1)  # rises with every edit
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)
    deleted_at: Mapped[datetime | None]  # soft: its history stays readable
