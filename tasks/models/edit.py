"""Messages that operators edited for one time; few, so they are apart."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Json, PartOfCongregation, within_congregation


class ExecutionEdit(PartOfCongregation, Base):
    """What an execution sends instead of what its rule would make.

    Such an execution is born with its first attempt counted already, so that only what
    is tried again asks for it.
    """

    __tablename__ = "execution_edits"
    __table_args__ = (
        within_congregation("execution_id", "executions", ondelete="CASCADE"),
    )

    execution_id: Mapped[UUID] = mapped_column(primary_key=True)
    message: Mapped[Json]  # the whole of it, as its action composes one
    edited_by: Mapped[str] = mapped_column(String(255))
    edited_at: Mapped[datetime] = mapped_column(default=utcnow)
