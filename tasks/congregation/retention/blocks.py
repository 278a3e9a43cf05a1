"""The list of those whose time has come and who have to stay.

It is looked over in every run: who is responsible for a group stands there until
somebody takes over, and then goes by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import and_, delete, exists, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.congregation.retention.candidates import Today, is_due, is_responsible
from tasks.models import BlockReason, Member, RetentionBlock

#: Administrators are told again of whom nobody has done anything about.
TELL_EVERY: Final = timedelta(days=7)
_DETAIL_MAX: Final = 500


def look_over(session: Session, today: Today) -> tuple[Sequence[UUID], Sequence[UUID]]:
    """Bring the list up to date; returns who is new on it, and who has left it."""
    responsible = session.scalars(
        select(Member.id).where(is_due(today), is_responsible()).order_by(Member.id)
    ).all()
    listed = set(
        session.scalars(
            select(RetentionBlock.member_id).where(
                RetentionBlock.congregation_id == today.congregation_id,
                RetentionBlock.reason == BlockReason.RESPONSIBLE,
            )
        )
    )
    for member_id in responsible:
        block(session, today, member_id, BlockReason.RESPONSIBLE)
    gone = _released(session, today)
    return [each for each in responsible if each not in listed], gone


def block(
    session: Session,
    today: Today,
    member_id: UUID,
    reason: BlockReason,
    detail: str = "",
) -> None:
    """Put somebody on the list, or say that they are still there."""
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    seen: dict[str, Any] = {
        "reason": reason,
        "detail": detail[:_DETAIL_MAX],
        "last_seen_at": today.now,
    }
    first = {
        "member_id": member_id,
        "congregation_id": today.congregation_id,
        "first_seen_at": today.now,
    }
    session.execute(
        insert(RetentionBlock)
        .values(first | seen)
        .on_conflict_do_update(index_elements=["member_id"], set_=seen)
    )


def to_be_told(session: Session, today: Today) -> Sequence[UUID]:
    """Return responsibles who were not told of for a week, and note them as told."""
    told: datetime = today.now - TELL_EVERY
    is_silent = (
        RetentionBlock.congregation_id == today.congregation_id,
        RetentionBlock.reason == BlockReason.RESPONSIBLE,
        or_(RetentionBlock.told_at.is_(None), RetentionBlock.told_at <= told),
    )
    return session.scalars(
        update(RetentionBlock)
        .where(*is_silent)
        .values(told_at=today.now)
        .returning(RetentionBlock.member_id)
        .execution_options(synchronize_session=False)
    ).all()


def _released(session: Session, today: Today) -> Sequence[UUID]:
    """Take off the list whom nothing holds back any more."""
    is_still = exists().where(
        Member.id == RetentionBlock.member_id,
        is_due(today),
        or_(
            RetentionBlock.reason == BlockReason.FAILED,
            is_responsible(),
        ),
    )
    return session.scalars(
        delete(RetentionBlock)
        .where(and_(RetentionBlock.congregation_id == today.congregation_id, ~is_still))
        .returning(RetentionBlock.member_id)
        .execution_options(synchronize_session=False)
    ).all()
