"""Deliveries: one event on its way to one webhook endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.errors import IllegalMove
from tasks.models.base import (
    Base,
    Id,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)
from tasks.models.execution import AttemptOutcome
from tasks.models.reason import Reason


class DeliveryState(StrEnum):
    """Where a delivery is in its life.  Operators filter by these words."""

    PENDING = "pending"  # waits until run_at, also between two attempts
    RUNNING = "running"  # leased to one worker until lease_until
    DELIVERED = "delivered"
    FAILED = "failed"  # no attempts left, or refused for good; may be sent again
    DISABLED = "disabled"  # its endpoint was switched off; may be sent again


_S = DeliveryState

#: Every move a delivery may make.
MOVES: Final[Mapping[DeliveryState, frozenset[DeliveryState]]] = {
    _S.PENDING: frozenset({_S.RUNNING, _S.DISABLED}),
    _S.RUNNING: frozenset({_S.DELIVERED, _S.PENDING, _S.FAILED, _S.DISABLED}),
    _S.DELIVERED: frozenset({_S.PENDING}),
    _S.FAILED: frozenset({_S.PENDING}),
    _S.DISABLED: frozenset({_S.PENDING}),
}
#: States in which nothing more happens by itself.
SETTLED: Final = frozenset(DeliveryState) - {_S.PENDING, _S.RUNNING}


class WebhookMessage(OfCongregation, Base):
    """What endpoints are told: made once, the same to the byte for all, for ever.

    Its id is the event's own, and the ``webhook-id`` that receivers see.
    """

    __tablename__ = "webhook_messages"
    __table_args__ = (
        tenant_key("webhook_messages"),
        UniqueConstraint("event_id"),
        within_congregation("event_id", "events", ondelete="CASCADE"),
    )

    id: Mapped[Id]
    event_id: Mapped[UUID | None]  # None: it is a test
    type: Mapped[str] = mapped_column(String(64))
    body: Mapped[str]  # JSON, sent as UTF-8
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Delivery(PartOfCongregation, Base):
    """One message for one endpoint."""

    __tablename__ = "deliveries"
    __table_args__ = (
        within_congregation("endpoint_id", "endpoints"),
        within_congregation("message_id", "webhook_messages", ondelete="CASCADE"),
        tenant_key("deliveries"),
        UniqueConstraint("message_id", "endpoint_id"),
        Index(
            "ix_deliveries_due",
            "endpoint_id",
            "run_at",
            "id",
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        Index(
            "ix_deliveries_leased",
            "lease_until",
            "id",
            postgresql_where=text("state = 'running'"),
            sqlite_where=text("state = 'running'"),
        ),
        Index(
            "ix_deliveries_ends",
            "congregation_id",
            "state",
            "id",
            postgresql_where=text("state = 'failed' OR state = 'disabled'"),
            sqlite_where=text("state = 'failed' OR state = 'disabled'"),
        ),
        Index(None, "endpoint_id", "id"),
    )

    id: Mapped[Id]
    endpoint_id: Mapped[UUID]
    message_id: Mapped[UUID]
    type: Mapped[str] = mapped_column(String(64))  # the message's
    state: Mapped[DeliveryState] = mapped_column(
        word(DeliveryState), default=DeliveryState.PENDING
    )
    run_at: Mapped[datetime]  # when the lane takes it next; moves with retries
    #: The fence: rises with every claim, never falls.
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)  # since it was last asked for
    crashes: Mapped[int] = mapped_column(default=0)  # workers that vanished with it
    claimed_at: Mapped[datetime | None]  # when the latest attempt began
    worker: Mapped[str | None] = mapped_column(String(64))  # who holds the lease
    lease_until: Mapped[datetime | None]
    reason: Mapped[Reason | None] = mapped_column(word(Reason))
    error: Mapped[str | None] = mapped_column(String(500))  # one readable sentence
    status_code: Mapped[int | None]  # of the last answer
    settled_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    def move_to(
        self, state: DeliveryState, *, at: datetime, reason: Reason | None = None
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


class DeliveryAttempt(PartOfCongregation, Base):
    """One try at a delivery that has ended; the one under way is the delivery's."""

    __tablename__ = "delivery_attempts"
    __table_args__ = (
        within_congregation("delivery_id", "deliveries", ondelete="CASCADE"),
    )

    delivery_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)  # 1, 2, 3 …: the fence
    worker: Mapped[str] = mapped_column(String(64))
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime]
    outcome: Mapped[AttemptOutcome] = mapped_column(word(AttemptOutcome))
    status_code: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(String(500))
    response: Mapped[str | None]  # start of the answer, at most 2 kB
