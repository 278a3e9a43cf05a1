"""Planning that is still to be done: of changed rules, and of other timezones."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tasks.models.base import (
    EXTERNAL_ID_MAX,
    Base,
    Id,
    OfCongregation,
    within_congregation,
)


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


class ZoneMove(OfCongregation, Base):
    """Another timezone of a congregation or podcast, and the jobs yet to go by it.

    Where they go now says the record, so that the last change counts.
    """

    __tablename__ = "zone_moves"
    __table_args__ = (UniqueConstraint("congregation_id", "podcast_id", "was"),)

    id: Mapped[Id]
    #: The podcast that moved; empty, and not NULL, which no key compares: all of them.
    podcast_id: Mapped[str] = mapped_column(String(EXTERNAL_ID_MAX), default="")
    was: Mapped[str] = mapped_column(String(64))  # the timezone that they went by
    since: Mapped[datetime]  # when it was changed; lateness counts from here
    touched_at: Mapped[datetime]  # who was worked on last waits longest
    #: The last job that was moved, by ``run_at`` and id; None: none yet.
    cursor_at: Mapped[datetime | None]
    cursor_id: Mapped[UUID | None]
