"""Whose time has come, who is held back, and who is to be told of it.

The same conditions serve the lane, the page and the dry run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, literal_column, or_, select
from sqlalchemy.orm import Session

from tasks.congregation.days import local_day
from tasks.congregation.retention.months import NOTICE, add_months, last_eligible
from tasks.models import BlockReason, Congregation, Group, Member, RetentionBlock

#: Who could not be erased is left alone for so long: until the next daily run.
FAILED_REST: Final = timedelta(hours=20)


@dataclass(frozen=True, slots=True)
class Today:
    """A congregation's day, and what it means for those who left."""

    congregation_id: UUID
    now: datetime
    day: date  # the local one
    months: int

    @classmethod
    def of(
        cls, congregation: Congregation, now: datetime, *, months: int | None = None
    ) -> Today:
        """Return the day of ``now``; ``months`` instead of the congregation's own."""
        return cls(
            congregation.id,
            now,
            local_day(now, congregation.timezone),
            congregation.retention_months if months is None else months,
        )


def is_leaving(today: Today) -> ColumnElement[bool]:
    """Whether somebody left and is still known by name."""
    return and_(
        Member.congregation_id == today.congregation_id,
        # As the index says it: neither database would see it in "left_on <= …" alone.
        Member.left_on.is_not(None),
        Member.anonymised_at.is_(None),
    )


def is_held(today: Today) -> ColumnElement[bool]:
    """Whether an operator holds on to them, today included."""
    # Never null, so that it can be negated.
    return and_(Member.hold_until.is_not(None), Member.hold_until >= today.day)


def is_past(today: Today) -> ColumnElement[bool]:
    """Whether their months are over, held back or not."""
    return and_(
        is_leaving(today), Member.left_on <= last_eligible(today.day, today.months)
    )


def is_due(today: Today) -> ColumnElement[bool]:
    """Whether their time has come and nobody holds on to them."""
    return and_(is_past(today), ~is_held(today))


def is_responsible() -> ColumnElement[bool]:
    """Whether a group would be left without its responsible."""
    return exists().where(
        Group.congregation_id == Member.congregation_id,
        Group.responsible_id == Member.id,
    )


def is_to_be_noticed(today: Today) -> ColumnElement[bool]:
    """Whether it has to be announced that their time comes soon."""
    soon = today.day + NOTICE
    return and_(
        is_leaving(today),
        Member.noticed_at.is_(None),
        Member.left_on <= last_eligible(soon, today.months),
        ~is_due(today),  # it is done in this very run
        or_(Member.hold_until.is_(None), Member.hold_until < soon),
    )


def due_on(left_on: date, hold_until: date | None, months: int) -> date:
    """Return the first day on which somebody can be anonymised."""
    day = add_months(left_on, months)
    if hold_until is None or hold_until < day:
        return day
    return min(hold_until, date.max - timedelta(days=1)) + timedelta(days=1)


def claim(session: Session, today: Today, limit: int) -> Sequence[UUID]:
    """Lock and return up to ``limit`` members to be erased now, longest gone first."""
    has_failed = exists().where(
        RetentionBlock.member_id == Member.id,
        RetentionBlock.reason == literal_column(f"'{BlockReason.FAILED}'"),
        RetentionBlock.last_seen_at > today.now - FAILED_REST,
    )
    ids = session.scalars(
        select(Member.id)
        .where(is_due(today), ~is_responsible(), ~has_failed)
        .order_by(Member.left_on, Member.id)
        .limit(limit)
        .with_for_update(skip_locked=True, of=Member)
    ).all()
    # Whoever became responsible before the lock was ours is seen only now.
    taken = session.scalars(
        select(Member.id).where(Member.id.in_(ids), is_responsible())
    )
    refused = set(taken)
    return [each for each in ids if each not in refused]
