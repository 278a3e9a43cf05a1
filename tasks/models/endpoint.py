"""Webhook endpoints: the addresses that hear of a congregation's events."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import JSON, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, OfCongregation, tenant_key, word


class EndpointEnd(StrEnum):
    """Why an endpoint is switched off."""

    OPERATOR = "operator"  # somebody did it
    GONE = "gone"  # it answered 410
    FAILING = "failing"  # it failed for too long


class Endpoint(OfCongregation, Base):
    """An address that gets every event it asks for, signed with a secret of its own."""

    __tablename__ = "endpoints"
    __table_args__ = (
        tenant_key("endpoints"),
        Index(None, "created_at", "id"),
    )

    id: Mapped[Id]
    url: Mapped[str] = mapped_column(String(2048))
    description: Mapped[str] = mapped_column(String(200), default="")
    #: Which events; None: all of them.
    event_types: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    #: Events of which podcasts; None: of all, and those that are about none.
    podcast_ids: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    enabled: Mapped[bool] = mapped_column(default=True)
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[EndpointEnd | None] = mapped_column(word(EndpointEnd))
    secret: Mapped[str]  # sealed (tasks.secrets)
    secret_hint: Mapped[str] = mapped_column(String(8))  # its last characters
    former_secret: Mapped[str | None]  # sealed; signs as well until former_until
    former_until: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)  # since the last good answer
    failing_since: Mapped[datetime | None]  # the first of them
    warned_at: Mapped[datetime | None]  # when we told that it will be switched off
    delivered_at: Mapped[datetime | None]  # the last good answer, to ten seconds
    failed_at: Mapped[datetime | None]  # the last bad one
    created_by: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)
    deleted_at: Mapped[datetime | None]  # soft: its deliveries stay readable
