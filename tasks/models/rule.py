"""Rules: when this happens, do that."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import JSON, Index, String
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


class OffsetUnit(StrEnum):
    """The unit of a time rule's offset."""

    MINUTES = "minutes"  # elapsed time
    HOURS = "hours"  # elapsed time: 24 hours are 24 hours across a DST change
    DAYS = "days"  # calendar days: the wall clock of the booking's timezone is kept


class LatePolicy(StrEnum):
    """What becomes of a before-rule's job whose instant passed before it existed."""

    SKIP = "skip"  # keep the row as skipped/offset_in_past
    SEND_NOW = "send_now"  # send at once, if the event itself is still ahead


class QuietPolicy(StrEnum):
    """What becomes of something whose moment lies in the rule's quiet hours."""

    WAIT = "wait"  # it goes out when they end
    SKIP = "skip"  # it ends as skipped/quiet_hours


class Rule(OfCongregation, Base):
    """What an operator wants to happen, and when."""

    __tablename__ = "rules"
    __table_args__ = (
        tenant_key("rules"),
        Index(None, "congregation_id", "trigger_type"),
    )

    id: Mapped[Id]
    #: The podcasts that it belongs to, copied from ``rule_podcasts`` so that no sweep
    #: needs a query for them; None: every podcast of the congregation.
    podcast_ids: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    name: Mapped[str] = mapped_column(String(120))
    enabled: Mapped[bool] = mapped_column(default=True)
    trigger_type: Mapped[str] = mapped_column(String(64))  # a key of TRIGGERS
    #: Distance from the reference instant; 0 or more, read only for time.* triggers.
    offset_value: Mapped[int] = mapped_column(default=0)
    offset_unit: Mapped[OffsetUnit] = mapped_column(
        word(OffsetUnit), default=OffsetUnit.HOURS
    )
    #: Of calendar days only: the local time of day, such as "18:00"; None: the
    #: reference's own.
    offset_at: Mapped[str | None] = mapped_column(String(5))
    late_policy: Mapped[LatePolicy] = mapped_column(
        word(LatePolicy), default=LatePolicy.SKIP
    )
    #: Minutes that a time rule may act late; None: while it helps, 0: not at all.
    late_limit: Mapped[int | None]
    #: Nothing goes out from here …
    quiet_from: Mapped[str | None] = mapped_column(String(5))
    #: … until here, in the recipient's local time; both or none.
    quiet_until: Mapped[str | None] = mapped_column(String(5))
    quiet_policy: Mapped[QuietPolicy] = mapped_column(
        word(QuietPolicy), default=QuietPolicy.WAIT
    )
    action: Mapped[str] = mapped_column(String(32))  # a key of ACTIONS
    #: What the action needs, in the action's own words (see its settings class).
    settings: Mapped[Json] = mapped_column(default=dict)
    #: The webhook's signing secret, encrypted (tasks.secrets); None: not signed yet.
    secret: Mapped[str | None]
    #: What must hold besides the trigger (``tasks.automation.conditions``); empty:
    #: nothing.
    conditions: Mapped[Json] = mapped_column(default=dict)
    max_attempts: Mapped[int] = mapped_column(default=5)  # 1 to 20
    #: The longest wait after the first failure; it doubles with each further one …
    retry_first_seconds: Mapped[int] = mapped_column(default=30)
    retry_longest_minutes: Mapped[int] = mapped_column(default=360)  # … up to this
    #: How often it acts within the window at most; None: as often as it is asked to.
    rate_limit: Mapped[int | None]
    rate_window_minutes: Mapped[int] = mapped_column(default=60)
    #: What it does later, in order; read and written by tasks.automation.steps only.
    steps: Mapped[list[Json]] = mapped_column(JSON, default=list)
    #: The steps' sealed secrets by number; apart, so that no copy of steps has them.
    step_secrets: Mapped[Json] = mapped_column(default=dict)
    n_steps: Mapped[int] = mapped_column(default=0)  # ever made: no number comes twice
    version: Mapped[int] = mapped_column(default=1)  # rises with every edit
    #: The version that last changed when it acts: pending jobs of older ones are yet to
    #: be planned anew.
    plan_version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)
    deleted_at: Mapped[datetime | None]  # soft: its history stays readable

    def covers(self, podcast_id: str | None) -> bool:
        """Whether the rule belongs to a podcast."""
        return self.podcast_ids is None or podcast_id in self.podcast_ids


class RulePodcast(OfCongregation, Base):
    """A podcast that a rule belongs to; a rule without any belongs to all of them."""

    __tablename__ = "rule_podcasts"
    __table_args__ = (
        within_congregation("rule_id", "rules"),
        within_congregation("podcast_id", "podcasts"),
        Index(None, "congregation_id", "podcast_id"),
    )

    rule_id: Mapped[UUID] = mapped_column(primary_key=True)
    podcast_id: Mapped[ExternalId] = mapped_column(primary_key=True)


class RuleVersion(OfCongregation, Base):
    """A rule as it was saved once; never changed."""

    __tablename__ = "rule_versions"
    __table_args__ = (within_congregation("rule_id", "rules"),)

    rule_id: Mapped[UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    actor: Mapped[str] = mapped_column(String(255))
    verb: Mapped[str] = mapped_column(String(32))  # "created", "edited" …
    document: Mapped[Json]  # see tasks.operations.rule_documents
