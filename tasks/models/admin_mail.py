"""Mails to the installation's admins: what a person ought to look at."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, word

_IS_PENDING = "state = 'pending'"


class AdminMailState(StrEnum):
    """Where a mail to an admin is."""

    PENDING = "pending"  # waits until run_at, also between two attempts
    SENT = "sent"
    FAILED = "failed"  # refused for good, or tried for too long


class AdminMail(Base):
    """One mail for one admin; written with what it tells of, sent by its lane."""

    __tablename__ = "admin_mails"
    __table_args__ = (
        UniqueConstraint("key", "address"),
        Index(None, "congregation_id", "created_at"),
        Index(
            "ix_admin_mails_due",
            "run_at",
            "id",
            postgresql_where=text(_IS_PENDING),
            sqlite_where=text(_IS_PENDING),
        ),
    )

    #: None: it concerns the installation, not one congregation.
    congregation_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("congregations.id"), sort_order=-1
    )
    id: Mapped[Id]
    #: What it tells of, so that one thing is told to one admin once.
    key: Mapped[str] = mapped_column(String(120))
    address: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str]  # plain text
    language: Mapped[str] = mapped_column(String(8), default="en")  # of both
    path: Mapped[str] = mapped_column(String(200))  # the page to look at, "/webhooks/…"
    state: Mapped[AdminMailState] = mapped_column(
        word(AdminMailState), default=AdminMailState.PENDING
    )
    #: When the lane takes it next.  A claim moves it past the longest attempt, so what
    #: a dead worker held comes due again by itself.
    run_at: Mapped[datetime] = mapped_column(default=utcnow)
    attempt: Mapped[int] = mapped_column(default=0)  # the fence; only rises
    error: Mapped[str | None] = mapped_column(String(500))  # one readable sentence
    settled_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
