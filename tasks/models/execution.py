"""Executions: one rule acting once for one event and one recipient."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import Index, SmallInteger, String, UniqueConstraint, text
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


class ExecutionState(StrEnum):
    """Where an execution is in its life.  Operators filter by these words."""

    PENDING = "pending"  # waits until run_at, also between two attempts
    RUNNING = "running"  # leased to one worker until lease_until
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # no attempts left, or refused for good; may be retried
    QUARANTINED = "quarantined"  # took its worker down three times; may be retried
    CANCELLED = "cancelled"  # stopped before it ran
    SKIPPED = "skipped"  # the guard found that it should not run


_S = ExecutionState

#: Every move an execution may make.
MOVES: Final[Mapping[ExecutionState, frozenset[ExecutionState]]] = {
    _S.PENDING: frozenset({_S.RUNNING, _S.CANCELLED, _S.SKIPPED}),
    _S.RUNNING: frozenset(
        {_S.SUCCEEDED, _S.PENDING, _S.FAILED, _S.QUARANTINED, _S.CANCELLED, _S.SKIPPED}
    ),
    _S.SUCCEEDED: frozenset(),
    _S.FAILED: frozenset({_S.PENDING}),
    _S.QUARANTINED: frozenset({_S.PENDING}),
    _S.CANCELLED: frozenset({_S.PENDING}),  # undone, within minutes
    _S.SKIPPED: frozenset(),
}
#: States in which nothing more happens by itself.
SETTLED: Final = frozenset(ExecutionState) - {_S.PENDING, _S.RUNNING}


#: The ends that operators look for: few rows, so their indexes stay small.
#: Joined by OR, since SQLite then takes the index for each of the words.
_IS_END: Final = (
    "state = 'failed' OR state = 'quarantined' OR state = 'cancelled'"
    " OR state = 'skipped'"
)


class Execution(PartOfCongregation, Base):
    """The hot row: narrow on purpose, since every change of state rewrites it."""

    __tablename__ = "executions"
    __table_args__ = (
        within_congregation("rule_id", "rules"),
        tenant_key("executions"),
        UniqueConstraint("congregation_id", "idempotency_key"),
        Index(
            "ix_executions_due_fair",
            "congregation_id",
            "run_at",
            "id",
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        Index(
            "ix_executions_due",
            "run_at",
            "id",
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        Index(
            "ix_executions_leased",
            "lease_until",
            "id",
            postgresql_where=text("state = 'running'"),
            sqlite_where=text("state = 'running'"),
        ),
        # The few that are suspected of crashes (tasks.claims.SUSPECT_CRASHES).
        Index(
            "ix_executions_suspects",
            "state",
            "run_at",
            "id",
            postgresql_where=text("crashes >= 2"),
            sqlite_where=text("crashes >= 2"),
        ),
        # Lists go by id, which rises with time: so the two unique keys serve them, and
        # what goes as planned has no index of its state to be put into.
        Index(
            "ix_executions_ends",
            "state",
            "id",
            postgresql_where=text(_IS_END),
            sqlite_where=text(_IS_END),
        ),
        Index(
            "ix_executions_ends_of",
            "congregation_id",
            "state",
            "id",
            postgresql_where=text(_IS_END),
            sqlite_where=text(_IS_END),
        ),
        Index(None, "rule_id", "id"),
        Index(
            "ix_executions_of_bookings",
            "congregation_id",
            "booking_id",
            "id",
            postgresql_where=text("booking_id IS NOT NULL"),
            sqlite_where=text("booking_id IS NOT NULL"),
        ),
        Index(
            "ix_executions_of_events",
            "event_id",
            postgresql_where=text("event_id IS NOT NULL"),
            sqlite_where=text("event_id IS NOT NULL"),
        ),
    )

    id: Mapped[Id]
    rule_id: Mapped[UUID]
    rule_version: Mapped[int]
    event_id: Mapped[UUID | None]  # None: a scheduled job led to it
    scheduled_job_id: Mapped[UUID | None]  # None: an event led to it
    trigger_type: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(32))
    podcast_id: Mapped[ExternalId | None]
    episode_id: Mapped[ExternalId | None]
    booking_id: Mapped[ExternalId | None]
    guest_id: Mapped[ExternalId | None]
    recipient: Mapped[str | None] = mapped_column(String(320))  # as last resolved
    step: Mapped[int] = mapped_column(SmallInteger, default=0)  # 0: the rule's own deed
    idempotency_key: Mapped[str] = mapped_column(String(512))
    state: Mapped[ExecutionState] = mapped_column(
        word(ExecutionState), default=ExecutionState.PENDING
    )
    due_at: Mapped[datetime]  # what was promised; never changes
    run_at: Mapped[datetime]  # when the lane takes it next; moves with retries
    #: The fence: rises with every claim, never falls.
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)  # counts against max_attempts
    crashes: Mapped[int] = mapped_column(default=0)  # three of them quarantine
    max_attempts: Mapped[int] = mapped_column(default=5)
    claimed_at: Mapped[datetime | None]  # when the latest attempt began
    #: When that attempt's effect began; None: it had not left the house yet.
    effect_at: Mapped[datetime | None]
    worker: Mapped[str | None] = mapped_column(String(64))  # who holds the lease
    lease_until: Mapped[datetime | None]
    reason: Mapped[Reason | None] = mapped_column(word(Reason))
    error: Mapped[str | None] = mapped_column(String(500))  # one readable sentence
    settled_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    rule: Mapped[Rule] = relationship(lazy="raise_on_sql", viewonly=True)

    def move_to(
        self, state: ExecutionState, *, at: datetime, reason: Reason | None = None
    ) -> None:
        """Enter ``state``, releasing any lease.

        Raises:
            IllegalMove: ``MOVES`` has no such edge.
        """
        if state not in MOVES[self.state]:
            raise IllegalMove(f"{self.state} → {state}")
        self.state = state
        self.reason = reason
        self.worker = None
        self.lease_until = None
        self.settled_at = at if state in SETTLED else None


class ExecutionContext(PartOfCongregation, Base):
    """The snapshot taken when the execution was made: what operators see."""

    __tablename__ = "execution_contexts"
    __table_args__ = (
        within_congregation("execution_id", "executions", ondelete="CASCADE"),
    )

    execution_id: Mapped[UUID] = mapped_column(primary_key=True)
    context: Mapped[Json]


class ExecutionMessage(PartOfCongregation, Base):
    """The message as it was last composed, right before it was sent."""

    __tablename__ = "execution_messages"
    __table_args__ = (
        within_congregation("execution_id", "executions", ondelete="CASCADE"),
    )

    execution_id: Mapped[UUID] = mapped_column(primary_key=True)
    message: Mapped[Json]  # the action's message, as a plain object
    composed_at: Mapped[datetime]


class AttemptOutcome(StrEnum):
    """How one attempt ended."""

    SUCCEEDED = "succeeded"
    RETRY = "retry"  # failed, and will be tried again
    FAILED = "failed"  # failed for good
    CRASHED = "crashed"  # the worker vanished before the effect began
    UNKNOWN = "unknown"  # the worker vanished, or the answer was lost, after it began
    RELEASED = "released"  # the worker stopped and gave it back
    DEFERRED = "deferred"  # the rule's rate limit had no room; waits for its turn
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


class Attempt(PartOfCongregation, Base):
    """One try at an execution that has ended; the one under way is the execution's."""

    __tablename__ = "attempts"
    __table_args__ = (
        within_congregation("execution_id", "executions", ondelete="CASCADE"),
    )

    execution_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)  # 1, 2, 3 …: the fence
    worker: Mapped[str] = mapped_column(String(64))
    started_at: Mapped[datetime]
    effect_started_at: Mapped[datetime | None]  # None: nothing left the house
    finished_at: Mapped[datetime]
    outcome: Mapped[AttemptOutcome] = mapped_column(word(AttemptOutcome))
    status_code: Mapped[int | None]  # HTTP or SMTP
    error: Mapped[str | None] = mapped_column(String(500))
    response: Mapped[str | None]  # start of the answer, at most 2 kB
