"""What was erased of people, and who cannot be erased yet."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    OfCongregation,
    PartOfCongregation,
    within_congregation,
    word,
)

#: Longest name that another installation has for a row of ours.
EXTERNAL_REF_MAX: Final = 230


class Erased(StrEnum):
    """What kind of row was erased."""

    MEMBER = "member"
    ACCOUNT = "account"


class Erasure(OfCongregation, Base):
    """That a person was erased: the ledger, applied anew after every import.

    It holds ids alone and no foreign key, since it has to outlive what it is about.
    """

    __tablename__ = "erasures"
    __table_args__ = (
        UniqueConstraint("congregation_id", "entity_type", "entity_id"),
        Index(None, "congregation_id", "requested_at", "id"),
        Index(None, "congregation_id", "external_ref"),
    )

    id: Mapped[Id]
    entity_type: Mapped[Erased] = mapped_column(word(Erased))
    entity_id: Mapped[UUID]
    #: What the archive that the row came from calls it; None: it came from none.
    external_ref: Mapped[str | None] = mapped_column(String(EXTERNAL_REF_MAX))
    requested_by: Mapped[str] = mapped_column(String(255))  # e-mail, or "system"
    requested_at: Mapped[datetime] = mapped_column(default=utcnow)
    completed_at: Mapped[datetime | None]  # None: the row has not been found yet


class BlockReason(StrEnum):
    """Why somebody whose time has come cannot be anonymised."""

    RESPONSIBLE = "responsible"  # of a group, which needs somebody in their place
    FAILED = "failed"  # the database refused; tried again with the next run


class RetentionBlock(PartOfCongregation, Base):
    """A member whose time has come and who has to stay; gone when that is over."""

    __tablename__ = "retention_blocks"
    __table_args__ = (
        within_congregation("member_id", "members", ondelete="CASCADE"),
        Index(None, "congregation_id", "first_seen_at", "member_id"),
    )

    member_id: Mapped[UUID] = mapped_column(primary_key=True)
    reason: Mapped[BlockReason] = mapped_column(word(BlockReason))
    detail: Mapped[str] = mapped_column(String(500), default="")  # of a failure
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    #: When administrators were last told of it; None: not yet.
    told_at: Mapped[datetime | None]
