"""Addresses that get no mails of a congregation."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, OfCongregation, word


class SuppressionReason(StrEnum):
    """Why an address gets no mails."""

    UNSUBSCRIBED = "unsubscribed"  # the recipient, by the link in a mail
    ASKED = "asked"  # the recipient told somebody, who wrote it down here
    BOUNCED = "bounced"  # the mailbox does not exist
    COMPLAINED = "complained"  # the recipient called our mail spam


#: Reasons that stop mails about something the recipient arranged, too.  Who only
#: unsubscribes still wants to know that a booking of theirs was moved.
STOPS_EVERYTHING: Final = frozenset(SuppressionReason) - {
    SuppressionReason.UNSUBSCRIBED
}


class Suppression(OfCongregation, Base):
    """One address that a congregation, or one agent of it, does not write to."""

    __tablename__ = "suppressions"
    __table_args__ = (
        UniqueConstraint("congregation_id", "address", "agent"),
        Index(None, "congregation_id", "created_at", "id"),
        Index(None, "created_at", "id"),
    )

    id: Mapped[Id]
    address: Mapped[str] = mapped_column(String(254))  # by ``normal_address``
    #: The one agent that may not write to it; empty: nobody may.  An address and no
    #: key, since what somebody asked for outlives the agent.
    agent: Mapped[str] = mapped_column(String(254), default="")
    reason: Mapped[SuppressionReason] = mapped_column(word(SuppressionReason))
    note: Mapped[str] = mapped_column(String(200), default="")
    #: An operator's e-mail, "the recipient" or "the mail server".
    created_by: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
