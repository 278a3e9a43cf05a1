"""Documents whose last day is near: the board's validators are told once of each."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from tasks.congregation.days import today_of
from tasks.congregation.notifications import News, notify_all
from tasks.lane import COUNT_CAP
from tasks.models.document import Document

#: So many days before the last one a document counts as ending soon.
SOON: Final = timedelta(days=7)
#: Of what changed since, it is told at the next hour of the day.
_DAILY: Final = timedelta(hours=25)
_IS_UNTOLD: Final = or_(
    Document.told_until.is_(None), Document.told_until != Document.visible_until
)


def ends_soon(today: date) -> tuple[ColumnElement[bool], ...]:
    """Return what makes a document one that is seen today and ends soon."""
    return (
        or_(Document.visible_from.is_(None), Document.visible_from <= today),
        Document.visible_until >= today,
        Document.visible_until <= today + SOON,
    )


def tell_expiring(
    session: Session, congregation_id: UUID, now: datetime, limit: int
) -> list[UUID]:
    """Tell of up to ``limit`` documents that end soon; returns their ids.

    Of each last day it is told once; one that is moved is told of again.
    """
    rows = session.scalars(
        select(Document)
        .where(
            Document.congregation_id == congregation_id,
            *ends_soon(today_of(session, congregation_id, now)),
            _IS_UNTOLD,
        )
        .order_by(Document.visible_until, Document.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    news = []
    for row in rows:
        row.told_until = row.visible_until
        about = {"title": row.title, "until": row.visible_until}
        news.append(News("document.expiring", row.id, about))
    notify_all(session, congregation_id, news, now)
    return [row.id for row in rows]


def n_overlooked(session: Session, now: datetime) -> int:
    """Return of how many documents nobody was told although their hour has passed."""
    today = now.date()
    overlooked = (
        select(Document.id)
        .where(
            _IS_UNTOLD,
            *ends_soon(today),
            Document.visible_until < today + SOON,  # not since today only
            Document.updated_at < now - _DAILY,
        )
        .limit(COUNT_CAP)
        .subquery()
    )
    return session.scalar(select(func.count()).select_from(overlooked)) or 0
