"""Which rows a record left behind, each kind found by an index and newest first.

A record is named by its own id and by those of its bookings.  Each name is a branch
with a limit of its own: databases then walk one index each, and never read all rows
of a congregation to find the few of a guest.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    false,
    func,
    select,
    union,
)
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import CompoundSelect

from dashboard.congregations.records import Names
from tasks.models import Event, Execution, ExecutionState, JobState, ScheduledJob
from tasks.operations.matching import Model

#: Rows of one kind from which others are found, going back from a page's start.
FRAME: Final = 200

T = TypeVar("T")
Table = type[Event] | Model
Ids = Select[UUID] | CompoundSelect[UUID]


def events(names: Names, limit: int, *which: ColumnElement[bool]) -> Ids:
    """Return the ids of the newest events that name the record."""
    order = (unindexed(Event.created_at).desc(), Event.id.desc())
    return _newest(Event, list(_named(Event, names)), order, limit, which)


def jobs(
    names: Names,
    limit: int,
    *which: ColumnElement[bool],
    at: ColumnElement[datetime] | InstrumentedAttribute[datetime],
) -> Ids:
    """Return the ids of the scheduled jobs that name the record, the latest first.

    Args:
        at: what they are sorted by.
    """
    order = (unindexed(at).desc(), ScheduledJob.id.desc())
    return _newest(ScheduledJob, list(_named(ScheduledJob, names)), order, limit, which)


def executions(
    names: Names, limit: int, *which: ColumnElement[bool], since: datetime | None = None
) -> ColumnElement[bool]:
    """Return which executions are the newest about the record; a few more may be.

    No index names episodes or guests here: theirs are found by their events and jobs.

    Args:
        since: the instant from which the page goes back; ``None``: from now.
    """
    order = (Execution.id.desc(),)  # ids rise with time
    parts = [_part(Execution, each, order, limit, which) for each in _booked(names)]
    if names.kind != "booking":
        parts += _led(names, since)
    ids = union(*parts) if len(parts) > 1 else parts[0]
    return and_(Execution.id.in_(ids), *which)


def _led(names: Names, since: datetime | None) -> Iterator[Select[UUID]]:
    """Yield the ids of executions by what led to them; few enough to need no limit.

    Joined as plain tables, so that no other condition tempts a database away from the
    index; whose they are was looked at with the events and jobs.
    """
    heard = [] if since is None else [Event.created_at <= since]
    told = events(names, FRAME, *heard).subquery()
    table = Execution.metadata.tables[Execution.__tablename__]
    yield select(table.c.id).join(told, told.c.id == table.c.event_id)
    done = ScheduledJob.execution_id.is_not(None)
    planned = jobs(names, FRAME, done, at=ScheduledJob.due_at).subquery()
    plan = ScheduledJob.metadata.tables[ScheduledJob.__tablename__]
    yield select(plan.c.execution_id).join(planned, planned.c.id == plan.c.id)


def waiting(model: Model) -> ColumnElement[bool]:
    """Return whether a row still waits for its time.

    Said as what it is not: no index of states is to be taken instead of the names'.
    """
    states = JobState if model is ScheduledJob else ExecutionState
    return model.state.not_in([state for state in states if state != JobState.PENDING])


def unindexed(column: ColumnElement[T] | InstrumentedAttribute[T]) -> ColumnElement[T]:
    """Return a column's values in a form for which a database takes no index.

    It would walk all of a congregation by time to spare the sorting of a dozen rows.
    """
    return func.coalesce(column, column)


def _booked(names: Names) -> Iterator[ColumnElement[bool]]:
    ids = (names.id,) if names.kind == "booking" else names.booking_ids
    for id_ in ids:
        yield and_(
            Execution.congregation_id == names.congregation_id,
            Execution.booking_id == id_,
        )


def _named(
    table: type[Event] | type[ScheduledJob], names: Names
) -> Iterator[ColumnElement[bool]]:
    of = table.congregation_id == names.congregation_id
    if names.kind == "booking":
        yield and_(of, table.booking_id == names.id)
    elif names.kind == "episode":
        yield and_(of, table.episode_id == names.id)
    elif table is Event:
        yield and_(of, Event.guest_id == names.id, Event.guest_id.is_not(None))
    for id_ in names.booking_ids:
        yield and_(of, table.booking_id == id_)


def _newest(
    table: Table,
    branches: list[ColumnElement[bool]],
    order: tuple[Any, ...],
    limit: int,
    which: tuple[ColumnElement[bool], ...],
) -> Ids:
    parts = [_part(table, each, order, limit, which) for each in branches]
    if not parts:  # a guest without bookings has no jobs
        return select(table.id).where(false())
    return union(*parts) if len(parts) > 1 else parts[0]


def _part(
    table: Table,
    branch: ColumnElement[bool],
    order: tuple[Any, ...],
    limit: int,
    which: tuple[ColumnElement[bool], ...],
) -> Select[UUID]:
    # Wrapped, since SQLite takes no LIMIT within a UNION.
    some = select(table.id).where(branch, *which).order_by(*order).limit(limit)
    inner = some.subquery()
    return select(inner.c.id)
