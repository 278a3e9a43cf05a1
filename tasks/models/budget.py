"""Lateness budgets: what share of the work is to begin how soon after its time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, OfCongregation, within_congregation


class _Promise:
    """What is promised; at least ``per_mille`` of 1 000 begin within ``seconds``."""

    per_mille: Mapped[int]
    seconds: Mapped[int]  # one of the rollups' BOUNDS
    #: Whether admins are told by mail, too; the first page warns anyway.
    by_mail: Mapped[bool] = mapped_column(default=True)
    #: Whether it was nearly used up, or broken, when the lane ``rollups`` last looked.
    is_near: Mapped[bool] = mapped_column(default=False)
    #: When admins were told that it is nearly used up; None: it is not, and was not
    #: for a while.
    warned_at: Mapped[datetime | None]
    #: When they were told that it is broken; None: it is not.
    broken_at: Mapped[datetime | None]
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)


class RuleBudget(_Promise, OfCongregation, Base):
    """The promise of one rule."""

    __tablename__ = "rule_budgets"
    __table_args__ = (within_congregation("rule_id", "rules"),)

    rule_id: Mapped[UUID] = mapped_column(primary_key=True)


class LaneBudget(_Promise, Base):
    """The promise of one lane, over all congregations."""

    __tablename__ = "lane_budgets"

    lane: Mapped[str] = mapped_column(String(32), primary_key=True)
