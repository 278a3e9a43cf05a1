"""The overview's two lists: what comes next, and what just happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from dashboard.event_titles import event_title
from tasks.models import (
    Booking,
    Congregation,
    Episode,
    EpisodeGuest,
    Event,
    Execution,
    ExecutionState,
    JobState,
    Rule,
    ScheduledJob,
)
from tasks.models.base import EntityOfCongregation
from tasks.operations.matching import Model, is_state

Named = Select[*tuple[Any, ...]]
Table = type[Event] | Model
#: Rows of each list.
ROWS: Final = 8


@dataclass(frozen=True, slots=True)
class About:
    """Whom or what a row names, and the names that are known here."""

    slug: str  # of the congregation
    booking_id: str | None
    episode_id: str | None
    guest_id: str | None
    booking: str | None  # the name of who booked
    episode: str | None
    guest: str | None

    @property
    def subject(self) -> str:
        """The best word that there is; empty: the whole podcast."""
        names = (self.booking, self.guest, self.episode)
        ids = (self.booking_id, self.guest_id, self.episode_id)
        return next(filter(None, (*names, *ids)), "")


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a list: when, what, for whom."""

    at: datetime
    kind: Literal["event", "execution", "job"]
    id: UUID
    title: str  # the rule's name, or the event's title
    congregation: str
    state: str | None  # None: an event has none
    about: About


def coming(session: Session) -> list[Line]:
    """Return what happens next, soonest first: jobs, and executions that wait."""
    lines = [*_lines(session, _JOBS, "job"), *_lines(session, _WAITING, "execution")]
    return sorted(lines, key=lambda line: (line.at, line.id))[:ROWS]


def recent(session: Session) -> list[Line]:
    """Return what just happened, newest first: events and what rules made of them."""
    lines = [*_events(session), *_lines(session, _MADE, "execution")]
    return sorted(lines, key=lambda line: (line.at, line.id), reverse=True)[:ROWS]


def _events(session: Session) -> Iterable[Line]:
    for at, id_, type_, house, *about in session.execute(_EVENTS):
        title = event_title(type_)
        yield Line(at, "event", id_, title, house, None, About(*about))


def _lines(
    session: Session, rows: Named, kind: Literal["execution", "job"]
) -> Iterable[Line]:
    for at, id_, state, rule, house, *about in session.execute(rows):
        yield Line(at, kind, id_, rule, house, state, About(*about))


def _with_names(
    ids: Select[UUID], table: Model, at: InstrumentedAttribute[datetime]
) -> Named:
    """Select the first ``ROWS`` of ``ids`` with the names that their ids stand for.

    The ids come first: with the joins beside them SQLite may read every row.
    """
    first = ids.limit(ROWS).subquery("first")
    rows = (
        select(at, table.id, table.state, Rule.name, Congregation.name, *_about(table))
        .join(first, first.c.id == table.id)
        .join(Rule, Rule.id == table.rule_id)
    )
    return _joined(rows, table)


def _about(table: Table) -> tuple[InstrumentedAttribute[Any], ...]:
    """Return the columns of ``About``, in its order."""
    ids = (table.booking_id, table.episode_id, table.guest_id)
    return (
        Congregation.slug,
        *ids,
        Booking.guest_name,
        Episode.title,
        EpisodeGuest.name,
    )


def _joined(rows: Select[*tuple[Any, ...]], table: Table) -> Named:
    return (
        rows.join(Congregation, Congregation.id == table.congregation_id)
        .outerjoin(Booking, _same(Booking, table, table.booking_id))
        .outerjoin(Episode, _same(Episode, table, table.episode_id))
        .outerjoin(EpisodeGuest, _same(EpisodeGuest, table, table.guest_id))
    )


def _same(
    model: type[EntityOfCongregation], table: Table, column: InstrumentedAttribute[Any]
) -> ColumnElement[bool]:
    return and_(model.congregation_id == table.congregation_id, model.id == column)


# Made once: with so many joins, making them takes longer than running them.
_JOBS: Final = _with_names(
    select(ScheduledJob.id)
    .where(is_state(ScheduledJob, JobState.PENDING))
    .order_by(ScheduledJob.run_at, ScheduledJob.id),
    ScheduledJob,
    ScheduledJob.run_at,
)
_WAITING: Final = _with_names(
    select(Execution.id)
    .where(is_state(Execution, ExecutionState.PENDING))
    .order_by(Execution.run_at, Execution.id),
    Execution,
    Execution.run_at,
)
_MADE: Final = _with_names(
    select(Execution.id).order_by(Execution.id.desc()),  # ids rise with time
    Execution,
    Execution.created_at,
)
_EVENTS: Final = _joined(
    select(Event.created_at, Event.id, Event.type, Congregation.name)
    .add_columns(*_about(Event))
    .order_by(Event.created_at.desc(), Event.id.desc())
    .limit(ROWS),
    Event,
)
