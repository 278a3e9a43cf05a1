"""Holds: what must not leave the house until somebody lets it go."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, within_congregation, word


class HoldKind(StrEnum):
    """Who set a hold."""

    OPERATOR = "operator"  # a person, on purpose
    VOLUME = "volume"  # the lane ``volumes``: a rule acts far more often than usual


class Channel(StrEnum):
    """A way out of the house."""

    EMAIL = "email"  # mails of rules
    WEBHOOK = "webhook"  # webhooks of rules
    NOTIFY = "notify"  # chat and push messages of rules
    DELIVERIES = "deliveries"  # events for webhook endpoints
    NOTIFICATIONS = "notifications"  # mails to a congregation's accounts


class Hold(Base):
    """One hold.  What is None does not narrow it: all three None holds everything."""

    __tablename__ = "holds"
    __table_args__ = (
        within_congregation("rule_id", "rules"),
        Index(
            "ix_holds_active",
            "id",
            postgresql_where=text("lifted_at IS NULL"),
            sqlite_where=text("lifted_at IS NULL"),
        ),
        Index(None, "rule_id", "id"),
    )

    id: Mapped[Id]
    kind: Mapped[HoldKind] = mapped_column(word(HoldKind), default=HoldKind.OPERATOR)
    congregation_id: Mapped[UUID | None] = mapped_column(ForeignKey("congregations.id"))
    channel: Mapped[Channel | None] = mapped_column(word(Channel))
    rule_id: Mapped[UUID | None]  # its congregation is set as well
    why: Mapped[str] = mapped_column(String(300))
    held_by: Mapped[str] = mapped_column(String(255))
    held_at: Mapped[datetime] = mapped_column(default=utcnow)
    until: Mapped[datetime | None]  # ends by itself then; None: somebody lifts it
    #: Of unusual volume: executions of the last hour, and the busiest hour before.
    n_seen: Mapped[int | None]
    n_usual: Mapped[int | None]
    lifted_at: Mapped[datetime | None]
    lifted_by: Mapped[str | None] = mapped_column(String(255))
