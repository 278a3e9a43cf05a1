"""The outbox: events that are still to be told to webhook endpoints."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, PartOfCongregation, within_congregation


class OutboxEntry(PartOfCongregation, Base):
    """One event on its way to endpoints; written with the event, gone when fanned out.

    Congregations without an endpoint have none.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        within_congregation("event_id", "events", ondelete="CASCADE"),
        within_congregation("endpoint_id", "endpoints"),
        Index(None, "run_at", "id"),
        Index(None, "event_id"),
    )

    id: Mapped[Id]
    event_id: Mapped[UUID]
    endpoint_id: Mapped[UUID | None]  # None: every endpoint that asks for it
    again: Mapped[bool] = mapped_column(default=False)  # also where it arrived already
    run_at: Mapped[datetime] = mapped_column(default=utcnow)
    failures: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(String(500))  # of the last failure
