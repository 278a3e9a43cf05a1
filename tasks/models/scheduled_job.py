"""Scheduled jobs: executions that are to exist at a later instant."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import Index, String, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from tasks.clock import utcnow
from tasks.errors import IllegalMove
from tasks.models.base import (
    Base,
    ExternalId,
    Id,
    Json,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)
from tasks.models.reason import Reason
from tasks.models.rule import Rule


class JobState(StrEnum):
    """Where a scheduled job is in its life."""

    PENDING = "pending"  # waits until run_at
    DISPATCHED = "dispatched"  # became an execution
    CANCELLED = "cancelled"
    SKIPPED = "skipped"  # there was nothing to do any more, or its time had passed
    MISSED = "missed"  # the worker was away for too long
    SUPERSEDED = "superseded"  # a newer plan took its place


_S = JobState

#: Every move a scheduled job may make.
MOVES: Final[Mapping[JobState, frozenset[JobState]]] = {
    _S.PENDING: frozenset(JobState) - {_S.PENDING},
    _S.DISPATCHED: frozenset(),
    _S.CANCELLED: frozenset({_S.PENDING}),  # undone, within minutes
    _S.SKIPPED: frozenset(),
    _S.MISSED: frozenset(),
    _S.SUPERSEDED: frozenset(),
}


class ScheduledJob(PartOfCongregation, Base):
    """One time rule's plan for one booking, episode or podcast."""

    __tablename__ = "scheduled_jobs"
    __table_args__ = (
        within_congregation("rule_id", "rules"),
        tenant_key("scheduled_jobs"),
        # Unique among the living only: 14:00 -> 15:45 -> 14:00 must work.
        Index(
            "uq_scheduled_jobs_living",
            "congregation_id",
            "idempotency_key",
            unique=True,
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        Index(
            "ix_scheduled_jobs_due_fair",
            "congregation_id",
            "run_at",
            "id",
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        Index(
            "ix_scheduled_jobs_due",
            "run_at",
            "id",
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        # The list of one congregation or of all, of one state or of all.
        Index(None, "due_at", "id"),
        Index("ix_scheduled_jobs_list", "congregation_id", "due_at", "id"),
        Index("ix_scheduled_jobs_state", "state", "due_at", "id"),
        Index(None, "congregation_id", "state", "due_at", "id"),
        Index(None, "congregation_id", "booking_id"),
        Index(None, "congregation_id", "episode_id"),
        Index(None, "congregation_id", "podcast_id", "state"),
        Index("ix_scheduled_jobs_rule", "rule_id", "state", "run_at", "id"),
    )

    id: Mapped[Id]
    rule_id: Mapped[UUID]
    rule_version: Mapped[int]
    trigger_type: Mapped[str] = mapped_column(String(64))
    podcast_id: Mapped[ExternalId]
    episode_id: Mapped[ExternalId | None]
    booking_id: Mapped[ExternalId | None]
    guest_id: Mapped[ExternalId | None]
    idempotency_key: Mapped[str] = mapped_column(String(512))
    reference_at: Mapped[datetime]  # the recording, publication or confirmation
    timezone: Mapped[str] = mapped_column(String(64))  # for calendar-day offsets
    state: Mapped[JobState] = mapped_column(word(JobState), default=JobState.PENDING)
    due_at: Mapped[datetime]  # what was promised; never changes
    run_at: Mapped[datetime]  # when the lane takes it; "Run now" moves it
    reason: Mapped[Reason | None] = mapped_column(word(Reason))
    execution_id: Mapped[UUID | None]  # what came of it, once dispatched
    settled_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    rule: Mapped[Rule] = relationship(lazy="raise_on_sql", viewonly=True)

    def move_to(
        self, state: JobState, *, at: datetime, reason: Reason | None = None
    ) -> None:
        """Enter ``state``.

        Raises:
            IllegalMove: the job is settled already.
        """
        if state not in MOVES[self.state]:
            raise IllegalMove(f"{self.state} → {state}")
        self.state = state
        self.reason = reason
        self.settled_at = at


class JobContext(PartOfCongregation, Base):
    """The snapshot taken when the job was planned: what operators see."""

    __tablename__ = "scheduled_job_contexts"
    __table_args__ = (
        within_congregation("scheduled_job_id", "scheduled_jobs", ondelete="CASCADE"),
    )

    scheduled_job_id: Mapped[UUID] = mapped_column(primary_key=True)
    context: Mapped[Json]
