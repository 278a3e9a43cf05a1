"""The tenant: every other row belongs to one."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id

RETENTION_MONTHS_MAX: Final = 120


class Congregation(Base):
    """An organisation whose background work runs here."""

    __tablename__ = "congregations"

    id: Mapped[Id]
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(120))
    locale: Mapped[str] = mapped_column(String(8), default="en")  # "en" or "fr"
    timezone: Mapped[str] = mapped_column(String(64), default="UTC")  # IANA name
    #: Whether an enabled webhook endpoint hears of its events (tasks.webhooks).
    has_endpoints: Mapped[bool] = mapped_column(default=False)
    #: Wake-ups a local day that one contact gets at most, of all agents together; None:
    #: any number.
    contact_daily_cap: Mapped[int | None]
    #: Months after which who left is anonymised, 1 to RETENTION_MONTHS_MAX.
    retention_months: Mapped[int] = mapped_column(default=6)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
