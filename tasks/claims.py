"""Which due rows to take next: the oldest, but fairly between congregations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    Uuid,
    bindparam,
    func,
    literal_column,
    select,
)
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from tasks.backlogs import waiting
from tasks.bulk import is_postgres
from tasks.lane import Backlog
from tasks.models.base import UtcDateTime
from tasks.models.execution import Execution
from tasks.models.scheduled_job import ScheduledJob
from tasks.sharing import having, share_out

Due = type[Execution] | type[ScheduledJob]
_RUNNING: Final = aliased(Execution)

#: From this many crashes on, an execution runs only while no other such one does: the
#: next crash quarantines it, and the crash must have been its own.
SUSPECT_CRASHES: Final = 2
#: PostgreSQL's advisory lock of those who look for a suspect.
_SUSPECTS_LOCK: Final = 0x5355_5350


#: Whether a row is running, asked of few rows by their ids.  Asked by the state,
#: PostgreSQL may go through the index of leases, which is full of dead entries while
#: many rows pass through it.
IS_LEASED: Final = Execution.lease_until.is_not(None)


def is_due(
    model: Due, now: datetime | ColumnElement[datetime]
) -> tuple[ColumnElement[bool], ...]:
    """Return what makes a row due.

    The state is written into the statement, not bound to it: neither database uses a
    partial index for a parameter.
    """
    return (model.state == literal_column("'pending'"), model.run_at <= now)


def due_ids(
    session: Session, model: Due, *, now: datetime, limit: int
) -> Sequence[UUID]:
    """Lock and return up to ``limit`` due rows' ids, as ``due_rows`` does."""
    rows = due_rows(session, model, (model.id,), now=now, limit=limit)
    return [row[0] for row in rows]


def due_rows(
    session: Session,
    model: Due,
    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[Any], ...],
    *,
    now: datetime,
    limit: int,
) -> list[Row[Any]]:
    """Lock up to ``limit`` due rows and return ``columns``, the id first; oldest first.

    Rows that another worker is taking right now are skipped, not waited for.  When
    more is due than one claim takes, each congregation gets an equal share of it
    before the oldest rows fill what is left: so a flood of one cannot starve another.
    """

    def own(of: UUID, share: int) -> Iterable[Row[Any]]:
        sets = {"now": now, "n": share, "of": of}
        return session.execute(_locked(model, columns, of_one=True), sets)

    return share_out(
        session.execute(_locked(model, columns), {"now": now, "n": limit}).all(),
        limit,
        lambda: _congregations_with_due(session, model, now),
        own,
        key=lambda row: row[0].int,  # a number hashes faster
    )


def next_suspect(
    session: Session,
    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[Any], ...],
    now: datetime,
) -> Row[Any] | None:
    """Lock a due execution that is suspected of crashes, if it is alone.

    Returns ``columns`` of it.  ``None`` while another such execution runs anywhere: two
    at once could not be told apart when their worker dies, and the innocent one would
    be quarantined as well.
    """
    due, sets = _locked(Execution, columns, is_suspect=True), {"now": now, "n": 1}
    if session.execute(due, sets).first() is None or not _looks_alone(session):
        return None
    return session.execute(due, sets).first()  # somebody else may have been quicker


def _running_suspects() -> Select[UUID]:
    return select(_RUNNING.id).where(
        _RUNNING.state == literal_column("'running'", _RUNNING.state.type),
        _is_suspected(_RUNNING),
    )


def _is_suspected(model: type[Execution]) -> ColumnElement[bool]:
    # Written into the statement for the sake of the partial index, as in is_due.
    return model.crashes >= literal_column(str(SUSPECT_CRASHES), Integer)


def _looks_alone(session: Session) -> bool:
    """Whether nobody else looks for a suspect until our transaction ends."""
    if not is_postgres(session):
        return True  # there is one writer at a time
    return bool(session.scalar(select(func.pg_try_advisory_xact_lock(_SUSPECTS_LOCK))))


def backlog_of(session: Session, model: Due, now: datetime) -> Backlog:
    """Return how much is due, counted to ``COUNT_CAP``, and since when."""
    return waiting(session, model.run_at, *is_due(model, now))


@lru_cache
def _locked(
    model: Due,
    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[Any], ...],
    *,
    is_suspect: bool = False,
    of_one: bool = False,  # congregation, named by the parameter "of"
) -> Select[*tuple[Any, ...]]:
    """Return the statement that locks due rows; making it anew takes longer."""
    locked = (
        select(*columns)
        .where(*is_due(model, bindparam("now", type_=UtcDateTime)))
        .order_by(model.run_at, model.id)
        .limit(bindparam("n", type_=Integer))
        .with_for_update(skip_locked=True, of=model)
    )
    if model is Execution:
        suspected = _is_suspected(Execution)
        locked = locked.where(suspected if is_suspect else ~suspected)
    if is_suspect:
        locked = locked.where(~_running_suspects().exists())
    if not of_one:
        return locked
    # As a range, whose order the other index does not have: if PostgreSQL expects that
    # little is due, it may go through what is due of all.
    of = bindparam("of", type_=Uuid)
    mine = locked.where(model.congregation_id.between(of, of)).order_by(None)
    return mine.order_by(model.congregation_id, model.run_at, model.id)


def _congregations_with_due(
    session: Session, model: Due, now: datetime
) -> Sequence[UUID]:
    return session.scalars(_having_due(model), {"now": now}).all()


@lru_cache
def _having_due(model: Due) -> Select[UUID]:
    waits = model.state == literal_column("'pending'")
    now = bindparam("now", type_=UtcDateTime)
    return having(model, waits, (model.run_at, model.id), now)
