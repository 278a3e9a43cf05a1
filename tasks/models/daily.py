"""What daily lanes remember of each congregation."""

from __future__ import annotations

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import Date, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.models.base import Base, OfCongregation


class DailyRun(OfCongregation, Base):
    """When a daily lane was last done with a congregation; ``tasks.daily`` moves it."""

    __tablename__ = "daily_runs"

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True, sort_order=-1
    )
    lane: Mapped[str] = mapped_column(String(32), primary_key=True)
    #: The UTC day whose hour it was last done for; None: never yet.
    done_for: Mapped[date | None] = mapped_column(Date)
    done_at: Mapped[datetime | None]
    #: When it last failed; None: what was done last went well.
    failed_at: Mapped[datetime | None]
    error: Mapped[str] = mapped_column(String(1000), default="")
    retry_at: Mapped[datetime | None]  # not tried before; None: at once
