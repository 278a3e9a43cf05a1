"""When executions of a rule with a rate limit may act."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from tasks.models.base import Base, PartOfCongregation, within_congregation


class RateSlot(PartOfCongregation, Base):
    """One execution's turn; rules without a limit have none."""

    __tablename__ = "rate_slots"
    __table_args__ = (
        within_congregation("execution_id", "executions", ondelete="CASCADE"),
        Index(None, "rule_id", "at"),
    )

    execution_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)  # the attempt that asked
    rule_id: Mapped[UUID]
    at: Mapped[datetime]  # from then on it may act
    #: The attempt that took the turn; None: it is kept for the next one.
    used_by: Mapped[int | None]
