"""Operations: one verb on many rows, done piece by piece, and what replays led to."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import JSON, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    Json,
    PartOfCongregation,
    within_congregation,
    word,
)


class OperationKind(StrEnum):
    """What is done to the rows."""

    RETRY_EXECUTIONS = "retry_executions"
    CANCEL_EXECUTIONS = "cancel_executions"
    REPLAY_EXECUTIONS = "replay_executions"
    RELEASE_EXECUTIONS = "release_executions"  # what waited, as far as it is of use
    DROP_EXECUTIONS = "drop_executions"  # what waited: cancelled
    CANCEL_JOBS = "cancel_jobs"
    REPLAY_EVENTS = "replay_events"
    RETRY_DELIVERIES = "retry_deliveries"
    RETRY_MAILS = "retry_mails"  # of notifications
    WAKE_ENGAGEMENTS = "wake_engagements"  # their agents, now
    STOP_ENGAGEMENTS = "stop_engagements"  # without a schedule from now on
    PAUSE_ENGAGEMENTS = "pause_engagements"
    RESUME_ENGAGEMENTS = "resume_engagements"


class OperationState(StrEnum):
    """Where an operation is in its life."""

    QUEUED = "queued"  # waits for its next piece
    RUNNING = "running"  # a worker has begun it
    STOPPED = "stopped"  # an operator stopped it; it can be resumed
    DONE = "done"
    FAILED = "failed"  # the same piece failed again and again; it can be resumed


_S = OperationState
#: States in which the lane works on it.
OPEN: Final = (_S.QUEUED, _S.RUNNING)
#: States from which an operator may let it go on.
RESUMABLE: Final = (_S.STOPPED, _S.FAILED)


class Operation(Base):
    """One verb on all rows that match.

    Rows are done in the order of their ids, and ``last_id`` moves in the transaction
    that does them: whoever takes it up again begins behind what was done.
    """

    __tablename__ = "operations"
    __table_args__ = (
        Index(None, "state", "touched_at"),
        Index(None, "congregation_id", "id"),
    )

    id: Mapped[Id]
    #: None: rows of several congregations are meant.
    congregation_id: Mapped[UUID | None] = mapped_column(ForeignKey("congregations.id"))
    #: The congregations that its operator saw, as texts; None: every one.
    scope: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    kind: Mapped[OperationKind] = mapped_column(word(OperationKind))
    matching: Mapped[Json]  # the filter, as operators read it; or ``ids``
    #: Rows that became so later are left alone: nobody saw them when the number was
    #: confirmed.
    high_water: Mapped[datetime]
    is_again: Mapped[bool] = mapped_column(default=False)  # what was sent, once more
    why: Mapped[str] = mapped_column(String(300), default="")
    actor: Mapped[str] = mapped_column(String(255))
    state: Mapped[OperationState] = mapped_column(
        word(OperationState), default=OperationState.QUEUED
    )
    n_total: Mapped[int]  # when it was confirmed; COUNT_CAP means "or more"
    n_done: Mapped[int] = mapped_column(default=0)  # looked at: changed or skipped
    n_changed: Mapped[int] = mapped_column(default=0)
    n_made: Mapped[int] = mapped_column(default=0)  # executions that came of it
    #: Why rows were skipped: a sentence -> {"n": how many, "ids": the first of them}.
    skipped: Mapped[Json] = mapped_column(default=dict)
    changed_in: Mapped[Json] = mapped_column(default=dict)  # congregation -> how many
    last_id: Mapped[UUID | None]  # of the last row done; None: none yet
    #: Of what is spread: when the first would have gone, for the rest to go in time.
    spread_from: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0)  # at the piece under way
    lease_until: Mapped[datetime | None]  # None: nobody is at it
    touched_at: Mapped[datetime]  # who was worked on last waits longest
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]  # also when it was stopped
    error: Mapped[str | None] = mapped_column(String(500))

    @property
    def n_skipped(self) -> int:
        """How many rows were looked at and left as they are."""
        return self.n_done - self.n_changed


class Replay(PartOfCongregation, Base):
    """An execution that repeats another one; apart, since few do."""

    __tablename__ = "replays"
    __table_args__ = (
        within_congregation("execution_id", "executions", ondelete="CASCADE"),
        Index(None, "original_id"),
    )

    execution_id: Mapped[UUID] = mapped_column(primary_key=True)
    original_id: Mapped[UUID]  # the execution; it may be gone by now
    operation_id: Mapped[UUID]  # who asked, and why; it may be gone by now
