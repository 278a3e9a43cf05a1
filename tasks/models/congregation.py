"""The tenant: every other row belongs to one."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id


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
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
