"""Sources that need no code: booking services that call us, and what they said."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    ExternalId,
    Id,
    Json,
    OfCongregation,
    tenant_key,
    within_congregation,
    word,
)


class SourceKind(StrEnum):
    """Which service calls."""

    CALCOM = "calcom"
    CALENDLY = "calendly"


class Source(OfCongregation, Base):
    """One webhook of a booking service; its bookings belong to one podcast."""

    __tablename__ = "sources"
    __table_args__ = (
        within_congregation("podcast_id", "podcasts"),
        tenant_key("sources"),
    )

    id: Mapped[Id]
    podcast_id: Mapped[ExternalId]
    kind: Mapped[SourceKind] = mapped_column(word(SourceKind))
    name: Mapped[str] = mapped_column(String(120))
    #: The last part of the address that the service calls.  It lets nobody in: every
    #: call is signed as well.
    token: Mapped[str] = mapped_column(String(64), unique=True)
    secret: Mapped[str]  # the signing key, encrypted (tasks.secrets)
    #: The service's name of an event type -> the booking link that it stands for.
    event_types: Mapped[Json] = mapped_column(default=dict)
    only_listed: Mapped[bool] = mapped_column(default=False)  # ignore other event types
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)


class CallOutcome(StrEnum):
    """What became of a call."""

    APPLIED = "applied"  # a booking was made or changed
    UNCHANGED = "unchanged"  # it was known already
    IGNORED = "ignored"  # it does not concern bookings, or is older than what we know
    FAILED = "failed"  # signed well, but it cannot be read or kept
    REFUSED = "refused"  # nobody knows who sent it


class SourceCall(OfCongregation, Base):
    """One call of a service; of refused ones, all of the same minute."""

    __tablename__ = "source_calls"
    __table_args__ = (
        within_congregation("source_id", "sources", ondelete="CASCADE"),
        Index(None, "source_id", "received_at"),
        Index(None, "received_at"),
    )

    id: Mapped[Id]
    source_id: Mapped[UUID]
    outcome: Mapped[CallOutcome] = mapped_column(word(CallOutcome))
    event: Mapped[str] = mapped_column(String(64), default="")  # in the service's words
    sentence: Mapped[str] = mapped_column(String(500))
    booking_id: Mapped[ExternalId | None]
    #: The start of the body without secrets; None: it was refused, so it is not kept.
    body: Mapped[str | None] = mapped_column(String(4000))
    n_times: Mapped[int] = mapped_column(default=1)
    received_at: Mapped[datetime]


class ExternalBooking(OfCongregation, Base):
    """Which booking a service's id means: a moved one gets another id over there."""

    __tablename__ = "external_bookings"

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True
    )
    kind: Mapped[SourceKind] = mapped_column(word(SourceKind), primary_key=True)
    external_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    booking_id: Mapped[ExternalId]
    told_at: Mapped[datetime | None]  # of the newest call applied; None: none yet
    verb: Mapped[str] = mapped_column(String(16), default="")  # what that call said
    is_superseded: Mapped[bool] = mapped_column(default=False)  # it was moved
