"""Events, and what every rule made of them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    ExternalId,
    Id,
    Json,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)


class Event(OfCongregation, Base):
    """Something that happened; stored once, never changed."""

    __tablename__ = "events"
    __table_args__ = (
        tenant_key("events"),
        UniqueConstraint("congregation_id", "external_id"),
        Index(None, "congregation_id", "created_at", "id"),
        Index(None, "created_at", "id"),
        Index(None, "congregation_id", "booking_id", "created_at"),
        Index(None, "congregation_id", "episode_id", "created_at"),
        # Few events name a guest, so this one stays small.
        Index(
            "ix_events_of_guests",
            "congregation_id",
            "guest_id",
            "created_at",
            postgresql_where=text("guest_id IS NOT NULL"),
            sqlite_where=text("guest_id IS NOT NULL"),
        ),
    )

    id: Mapped[Id]
    type: Mapped[str] = mapped_column(String(64))
    #: The producer's own id of this occurrence; None: it has none, and the seed's
    #: daily key tells duplicates.
    external_id: Mapped[str | None] = mapped_column(String(255))
    podcast_id: Mapped[ExternalId | None]
    episode_id: Mapped[ExternalId | None]
    booking_id: Mapped[ExternalId | None]
    guest_id: Mapped[ExternalId | None]
    source: Mapped[str] = mapped_column(String(32))  # "python", "api", "rule", "demo"
    depth: Mapped[int] = mapped_column(default=0)  # rules that led to it; loop guard
    occurred_at: Mapped[datetime]  # as the producer says
    created_at: Mapped[datetime] = mapped_column(default=utcnow)  # as we heard of it


class EventData(PartOfCongregation, Base):
    """What else the producer told; apart, so that lists never read it."""

    __tablename__ = "event_data"
    __table_args__ = (within_congregation("event_id", "events", ondelete="CASCADE"),)

    event_id: Mapped[UUID] = mapped_column(primary_key=True)
    data: Mapped[Json]


class DecisionOutcome(StrEnum):
    """What a rule made of an event or a date."""

    FIRED = "fired"  # an execution came of it
    SCHEDULED = "scheduled"  # a scheduled job came of it
    NO = "no"  # nothing came of it; the reason says why


class Decision(PartOfCongregation, Base):
    """One evaluation of one rule: the "no" is kept as well as the "yes"."""

    __tablename__ = "decisions"
    __table_args__ = (
        within_congregation("rule_id", "rules"),
        Index(None, "event_id"),
        Index(None, "rule_id", "created_at"),
        Index(None, "created_at"),
    )

    id: Mapped[Id]
    event_id: Mapped[UUID | None]  # None: a date was planned, no event happened
    rule_id: Mapped[UUID]
    rule_version: Mapped[int]
    entity_id: Mapped[ExternalId | None]  # booking, episode or podcast of the date
    outcome: Mapped[DecisionOutcome] = mapped_column(word(DecisionOutcome))
    reason: Mapped[str | None] = mapped_column(String(32))  # a Reason; None for a yes
    #: What was seen, in a sentence for operators; None: the reason says it all.
    detail: Mapped[str | None] = mapped_column(String(500))
    #: The execution or job that came of it, or that it is a duplicate of.
    execution_id: Mapped[UUID | None]
    scheduled_job_id: Mapped[UUID | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
