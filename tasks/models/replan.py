"""Planning that a changed rule still has before it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.models.base import Base, OfCongregation, within_congregation


class Replan(OfCongregation, Base):
    """One rule's open planning; the lane "replanning" works it off and removes it.

    The jobs before it are not listed: they are the rule's pending ones of a version
    before ``Rule.plan_version``, so whoever ends or moves one of them takes it off.
    """

    __tablename__ = "replans"
    __table_args__ = (within_congregation("rule_id", "rules"),)

    rule_id: Mapped[UUID] = mapped_column(primary_key=True)
    since: Mapped[datetime]  # when the rule was changed; lateness counts from here
    touched_at: Mapped[datetime]  # who was worked on last waits longest
    also_coming: Mapped[bool] = mapped_column(default=False)  # the calendar, too
    #: The last record of the calendar that was planned; None: none yet.
    cursor: Mapped[str | None] = mapped_column(String(80))
    n_created: Mapped[int] = mapped_column(default=0)
    n_ended: Mapped[int] = mapped_column(default=0)
