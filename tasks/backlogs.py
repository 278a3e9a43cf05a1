"""How much waits for a lane, asked of the database once."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.lane import COUNT_CAP, Backlog

Instant = InstrumentedAttribute[datetime] | InstrumentedAttribute[datetime | None]


def waiting(session: Session, since: Instant, *where: ColumnElement[bool]) -> Backlog:
    """Return how many rows wait, counted to ``COUNT_CAP``, and the earliest ``since``.

    The earliest is looked up beside the count: those that are counted need not be the
    oldest when there are more of them.
    """
    some = select(since).where(*where).limit(COUNT_CAP).subquery()
    n_due = select(func.count()).select_from(some).scalar_subquery()
    oldest = select(since).where(*where).order_by(since).limit(1).scalar_subquery()
    return Backlog(*session.execute(select(n_due, oldest)).one())
