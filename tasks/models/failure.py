"""Failures by cause: what failed alike is one row to read, and to acknowledge."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from sqlalchemy import Index, String, text
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from tasks.models.base import (
    Base,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)
from tasks.models.reason import Reason

CAUSE_MAX: Final = 300
NOTE_MAX: Final = 500


class FailureGroup(OfCongregation, Base):
    """Failures of one rule or endpoint with the same cause.

    Its id is made of all that they have in common, so that writers need not look for
    the row first.
    """

    __tablename__ = "failure_groups"
    __table_args__ = (
        within_congregation("rule_id", "rules"),
        within_congregation("endpoint_id", "endpoints"),
        tenant_key("failure_groups"),
        Index(None, "last_at", "id"),
        Index(None, "congregation_id", "last_at", "id"),
        Index(None, "rule_id", "last_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    rule_id: Mapped[UUID | None]  # None: deliveries failed
    endpoint_id: Mapped[UUID | None]  # None: executions failed
    action: Mapped[str] = mapped_column(String(32))  # of deliveries: "delivery"
    reason: Mapped[Reason | None] = mapped_column(word(Reason))
    #: The error without what differs from one failure to the next.
    cause: Mapped[str] = mapped_column(String(CAUSE_MAX))
    n: Mapped[int]  # failures so far; one that is retried and fails again counts anew
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    #: When somebody last took note of it; None: nobody has.
    acknowledged_at: Mapped[datetime | None]
    acknowledged_by: Mapped[str | None] = mapped_column(String(255))
    note: Mapped[str] = mapped_column(String(NOTE_MAX), default="")
    #: Later failures ask for nobody before this; None: the very next one does.
    quiet_until: Mapped[datetime | None]


class FailureHour(PartOfCongregation, Base):
    """How often a group's cause struck within one hour."""

    __tablename__ = "failure_hours"
    __table_args__ = (
        within_congregation("group_id", "failure_groups", ondelete="CASCADE"),
        Index(None, "hour"),
    )

    group_id: Mapped[UUID] = mapped_column(primary_key=True)
    hour: Mapped[datetime] = mapped_column(primary_key=True)  # its start
    n: Mapped[int]


class _Failed(PartOfCongregation):
    """One row that failed, and why; apart, since few do."""

    column: ClassVar[str]
    table: ClassVar[str]

    group_id: Mapped[UUID]
    failed_at: Mapped[datetime]
    #: When it was queued again; None: it has failed, and nobody has done anything.
    retried_at: Mapped[datetime | None]

    @declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:  # noqa: N805  # SQLAlchemy's way
        name = f"ix_failed_{cls.table}_open"
        still = text("retried_at IS NULL")
        return (
            within_congregation(cls.column, cls.table, ondelete="CASCADE"),
            within_congregation("group_id", "failure_groups", ondelete="CASCADE"),
            Index(None, "group_id", cls.column),
            Index(
                name,
                *("group_id", cls.column),
                postgresql_where=still,
                sqlite_where=still,
            ),
        )


class FailedExecution(_Failed, Base):
    """An execution that failed for good, or was quarantined."""

    __tablename__ = "failed_executions"
    column = "execution_id"
    table = "executions"

    execution_id: Mapped[UUID] = mapped_column(primary_key=True)


class FailedDelivery(_Failed, Base):
    """A delivery that failed for good."""

    __tablename__ = "failed_deliveries"
    column = "delivery_id"
    table = "deliveries"

    delivery_id: Mapped[UUID] = mapped_column(primary_key=True)
