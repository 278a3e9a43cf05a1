"""Locking rows in one order, so that two who change the same ones tie no knot.

ARCHITECTURE.md says in which order tables come; within one it is that of the ids.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.models.delivery import Delivery
from tasks.models.execution import Execution
from tasks.models.scheduled_job import ScheduledJob

Model = type[Delivery] | type[Execution] | type[ScheduledJob]


def in_order(
    session: Session, model: Model, *conditions: ColumnElement[bool]
) -> tuple[ColumnElement[bool], ...]:
    """Return ``conditions`` for an UPDATE of several rows that locks them by id first.

    By itself it locks them as it comes across them.  SQLite has one writer at a time.
    """
    if not is_postgres(session):
        return conditions
    locked = (
        select(model.id)
        .where(*conditions)
        .order_by(model.id)
        .with_for_update(key_share=True)
    )
    return (model.id.in_(locked),)
