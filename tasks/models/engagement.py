"""Agents, their engagements with contacts, and the mails that went to and fro."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    Json,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)

#: Written into statements as well: no database uses a partial index for a parameter.
_IS_ARMED = "wake_state = 'armed'"


class WakeState(StrEnum):
    """What became of an engagement's present schedule."""

    IDLE = "idle"  # there is none
    ARMED = "armed"  # it is announced once its instant has come
    ANNOUNCED = "announced"  # the event contact.due is stored
    PASSED = "passed"  # its instant came, and something spoke against an event
    SET_ASIDE = "set_aside"  # its event could not be made; an operator may try again


class PassedBecause(StrEnum):
    """Why a schedule passed without an event."""

    SUPPRESSED = "suppressed"  # nobody, or not this agent, may write to the address
    PAUSED = "paused"  # the engagement was
    AGENT_PAUSED = "agent_paused"
    REPLIED = "replied"  # and the engagement stops on a reply


class WaitsFor(StrEnum):
    """Why an engagement that is due is announced later."""

    QUIET = "quiet"  # its quiet hours end
    CAMPAIGN_CAP = "campaign_cap"  # its campaign has had its wake-ups for today
    AGENT_CAP = "agent_cap"
    CONTACT_CAP = "contact_cap"  # the contact has, of all agents together


class Direction(StrEnum):
    """Which way a mail went."""

    OUTBOUND = "outbound"  # from the agent to the contact
    INBOUND = "inbound"


class Agent(OfCongregation, Base):
    """Who writes to contacts: a program with an e-mail address of its own."""

    __tablename__ = "agents"
    __table_args__ = (
        tenant_key("agents"),
        UniqueConstraint("congregation_id", "address"),
    )

    id: Mapped[Id]
    address: Mapped[str] = mapped_column(String(254))  # by ``normal_address``
    paused_at: Mapped[datetime | None]  # None: it is at work
    daily_cap: Mapped[int | None]  # wake-ups a local day; None: any number
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Engagement(OfCongregation, Base):
    """One agent's relationship with one contact."""

    __tablename__ = "engagements"
    __table_args__ = (
        within_congregation("agent_id", "agents", ondelete="CASCADE"),
        within_congregation("contact_id", "contacts", ondelete="CASCADE"),
        within_congregation("import_id", "contact_imports"),
        ForeignKeyConstraint(
            ["congregation_id", "campaign"],
            ["outreach_campaigns.congregation_id", "outreach_campaigns.name"],
        ),
        tenant_key("engagements"),
        UniqueConstraint("congregation_id", "agent_id", "contact_id"),
        # The sweep's cost does not grow with what was announced.
        Index(
            "ix_engagements_armed",
            "wake_at",
            "next_action_at",
            "id",
            postgresql_where=text(_IS_ARMED),
            sqlite_where=text(_IS_ARMED),
        ),
        Index(
            "ix_engagements_armed_fair",
            "congregation_id",
            "wake_at",
            "next_action_at",
            "id",
            postgresql_where=text(_IS_ARMED),
            sqlite_where=text(_IS_ARMED),
        ),
        Index(None, "congregation_id", "wake_state", "id"),
        Index(None, "congregation_id", "address"),
        Index(None, "contact_id"),
        Index(None, "agent_id", "id"),
        Index(None, "congregation_id", "campaign", "id"),
        Index(None, "import_id"),
    )

    id: Mapped[Id]
    agent_id: Mapped[UUID]
    contact_id: Mapped[UUID]
    address: Mapped[str] = mapped_column(String(254))  # the contact's
    stage: Mapped[str] = mapped_column(String(120), default="")  # the agent's own word
    #: When the agent wants to look again, as it said; None: not by itself.
    next_action_at: Mapped[datetime | None]
    #: Rises with every new schedule and is part of its event's id, so that one that
    #: comes back (A, B, A) is announced again.
    revision: Mapped[int] = mapped_column(default=0)
    wake_state: Mapped[WakeState] = mapped_column(
        word(WakeState), default=WakeState.IDLE
    )
    #: When the lane takes it: ``next_action_at``, the end of quiet hours, or the next
    #: local day when a daily cap is used up.
    wake_at: Mapped[datetime | None]
    waits_for: Mapped[WaitsFor | None] = mapped_column(word(WaitsFor))
    passed_because: Mapped[PassedBecause | None] = mapped_column(word(PassedBecause))
    settled_at: Mapped[datetime | None]  # announced, passed or set aside
    trouble: Mapped[str | None] = mapped_column(String(500))  # why it was set aside
    details: Mapped[Json] = mapped_column("metadata", default=dict)
    campaign: Mapped[str | None] = mapped_column(String(80))  # None: it is in none
    stop_on_reply: Mapped[bool] = mapped_column(default=False)
    paused_at: Mapped[datetime | None]  # None: it is not
    #: No event comes from here …
    quiet_from: Mapped[str | None] = mapped_column(String(5))
    #: … until here, "HH:MM" in its timezone; both or none.
    quiet_until: Mapped[str | None] = mapped_column(String(5))
    timezone: Mapped[str | None] = mapped_column(String(64))  # None: congregation's
    first_outbound_at: Mapped[datetime | None]
    last_outbound_at: Mapped[datetime | None]
    last_inbound_at: Mapped[datetime | None]
    outbound_count: Mapped[int] = mapped_column(default=0)
    inbound_count: Mapped[int] = mapped_column(default=0)
    last_conversation_id: Mapped[str | None] = mapped_column(String(255))
    import_id: Mapped[UUID | None]  # the list that made it; None: no list did
    version: Mapped[int] = mapped_column(default=1)  # rises with every change
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)

    @property
    def has_replied(self) -> bool:
        """Whether the contact has written since the agent first did."""
        first, last = self.first_outbound_at, self.last_inbound_at
        return first is not None and last is not None and last > first


class EngagementMessage(PartOfCongregation, Base):
    """That a mail went to or fro; never what it said."""

    __tablename__ = "engagement_messages"
    __table_args__ = (
        within_congregation("engagement_id", "engagements", ondelete="CASCADE"),
        Index(None, "engagement_id", "at"),
    )

    engagement_id: Mapped[UUID] = mapped_column(primary_key=True)
    message_id: Mapped[str] = mapped_column(String(255), primary_key=True)
    direction: Mapped[Direction] = mapped_column(word(Direction))
    at: Mapped[datetime]
    conversation_id: Mapped[str | None] = mapped_column(String(255))
