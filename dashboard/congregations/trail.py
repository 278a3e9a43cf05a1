"""Which rows a record left behind, each kind found by an index and newest first.

A record is named by its own id and by those of its bookings.  Each name is a branch
with a limit of its own: databases then walk one index each, and never read all rows
of a congregation to find the few of a guest.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    false,
    select,
    union,
)
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import CompoundSelect

from dashboard.congregations.records import Names
from tasks.models import Event, Execution, JobState, ScheduledJob
from tasks.operations.matching import Model, is_state

#: Rows of one kind from which others are found, going back from a page's start.
FRAME: Final = 200

Table = type[Event] | Model
Ids = Select[UUID] | CompoundSelect[UUID]


def events(names: Names, limit: int, *which: ColumnElement[bool]) -> Ids:
    """Return the ids of the newest events that name the record."""
    order = (Event.created_at.desc(), Event.id.desc())
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
    order = (at.desc(), ScheduledJob.id.desc())
    return _newest(ScheduledJob, list(_named(ScheduledJob, names)), order, limit, which)


def executions(
    names: Names, limit: int, *which: ColumnElement[bool], since: datetime | None = None
) -> Ids:
    """Return the ids of the newest executions that are about the record.

    No index names episodes or guests here: theirs are found by their events and jobs.

    Args:
        since: the instant from which the page goes back; ``None``: from now.
    """
    order = (Execution.id.desc(),)  # ids rise with time
    parts = [_part(Execution, each, order, limit, which) for each in _booked(names)]
    if names.kind != "booking":
        parts += [
            select(Execution.id).where(each, *which) for each in _led(names, since)
        ]
    return union(*parts) if len(parts) > 1 else parts[0]


def _led(names: Names, since: datetime | None) -> Iterator[ColumnElement[bool]]:
    """Yield what finds executions by what led to them; few enough to need no limit."""
    of = Execution.congregation_id == names.congregation_id
    heard = [] if since is None else [Event.created_at <= since]
    yield and_(of, Execution.event_id.in_(events(names, FRAME, *heard)))
    done = ScheduledJob.state == JobState.DISPATCHED
    planned = jobs(names, FRAME, done, at=ScheduledJob.due_at)
    became = select(ScheduledJob.execution_id).where(ScheduledJob.id.in_(planned))
    yield and_(of, Execution.id.in_(became))


def waiting(model: Model) -> ColumnElement[bool]:
    """Return whether a row still waits for its time."""
    return is_state(model, JobState.PENDING)


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
