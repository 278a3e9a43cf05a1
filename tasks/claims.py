"""Which due rows to take next: the oldest, but fairly between congregations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, literal_column, select
from sqlalchemy.orm import Session

from tasks.lane import COUNT_CAP, Backlog
from tasks.models.congregation import Congregation
from tasks.models.execution import Execution
from tasks.models.scheduled_job import ScheduledJob

Due = type[Execution] | type[ScheduledJob]

#: Congregations that share one claim; with more of them, a random choice takes turns.
SHARING_MAX: Final = 50


def is_due(model: Due, now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return what makes a row due.

    The state is written into the statement, not bound to it: neither database uses a
    partial index for a parameter.
    """
    return (model.state == literal_column("'pending'"), model.run_at <= now)


def due_ids(
    session: Session, model: Due, *, now: datetime, limit: int
) -> Sequence[UUID]:
    """Lock and return up to ``limit`` due rows' ids, oldest first.

    Rows that another worker is taking right now are skipped, not waited for.  When
    more is due than one claim takes, each congregation gets an equal share of it
    before the oldest rows fill what is left: so a flood of one cannot starve another.
    """
    oldest = session.scalars(_locked(model, now, limit)).all()
    if len(oldest) < limit:
        return oldest
    sharing = _congregations_with_due(session, model, now)
    if len(sharing) < 2:
        return oldest
    share = max(1, limit // len(sharing))
    chosen: dict[UUID, None] = {}
    for congregation_id in sharing:
        own = _locked(model, now, share).where(model.congregation_id == congregation_id)
        chosen.update(dict.fromkeys(session.scalars(own)))
    chosen.update(dict.fromkeys(oldest))
    return list(chosen)[:limit]


def backlog_of(session: Session, model: Due, now: datetime) -> Backlog:
    """Return how much is due, counted to ``COUNT_CAP``, and since when."""
    due = select(model.id).where(*is_due(model, now)).limit(COUNT_CAP).subquery()
    oldest = (
        select(model.run_at).where(*is_due(model, now)).order_by(model.run_at).limit(1)
    )
    return Backlog(
        n_due=session.scalar(select(func.count()).select_from(due)) or 0,
        oldest_due_at=session.scalar(oldest),
    )


def _locked(model: Due, now: datetime, limit: int) -> Select[UUID]:
    return (
        select(model.id)
        .where(*is_due(model, now))
        .order_by(model.run_at, model.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )


def _congregations_with_due(
    session: Session, model: Due, now: datetime
) -> Sequence[UUID]:
    due = select(model.id).where(
        *is_due(model, now), model.congregation_id == Congregation.id
    )
    return session.scalars(
        select(Congregation.id)
        .where(due.exists())
        .order_by(func.random())
        .limit(SHARING_MAX)
    ).all()
