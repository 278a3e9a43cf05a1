"""The overview's two lists: what comes next, and what just happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from dashboard.congregations.moments import event_title
from tasks.models import (
    Booking,
    Congregation,
    Episode,
    Event,
    Execution,
    ExecutionState,
    JobState,
    Rule,
    ScheduledJob,
)
from tasks.operations.matching import Model, is_state, of_same

#: When, id, state, booking, episode, rule, guest, episode's title, congregation.
Named = Select[datetime, UUID, StrEnum, str | None, str | None, str, str, str, str]
#: Rows of each list.
ROWS: Final = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a list: when, what, for whom."""

    at: datetime
    kind: Literal["event", "execution", "job"]
    id: UUID
    title: str  # the rule's name, or the event's title
    subject: str  # a guest, an episode or an id; empty: the whole podcast
    congregation: str
    state: str | None  # None: an event has none


def coming(session: Session) -> list[Line]:
    """Return what happens next, soonest first: jobs, and executions that wait."""
    jobs = (
        select(ScheduledJob.id)
        .where(is_state(ScheduledJob, JobState.PENDING))
        .order_by(ScheduledJob.run_at, ScheduledJob.id)
    )
    waiting = (
        select(Execution.id)
        .where(is_state(Execution, ExecutionState.PENDING))
        .order_by(Execution.run_at, Execution.id)
    )
    lines = [
        *_lines(session, _with_names(jobs, ScheduledJob, ScheduledJob.run_at), "job"),
        *_lines(
            session, _with_names(waiting, Execution, Execution.run_at), "execution"
        ),
    ]
    return sorted(lines, key=lambda line: (line.at, line.id))[:ROWS]


def recent(session: Session) -> list[Line]:
    """Return what just happened, newest first: events and what rules made of them."""
    made = _with_names(
        select(Execution.id).order_by(Execution.id.desc()),  # ids rise with time
        Execution,
        Execution.created_at,
    )
    lines = [*_events(session), *_lines(session, made, "execution")]
    return sorted(lines, key=lambda line: (line.at, line.id), reverse=True)[:ROWS]


def _with_names(
    ids: Select[UUID], table: Model, at: InstrumentedAttribute[datetime]
) -> Named:
    """Select the first ``ROWS`` of ``ids`` with the names that their ids stand for.

    The ids come first: with the joins beside them SQLite may read every row.
    """
    first = ids.limit(ROWS).subquery("first")
    return (
        select(
            at,
            table.id,
            table.state,
            table.booking_id,
            table.episode_id,
            Rule.name,
            Booking.guest_name,
            Episode.title,
            Congregation.name,
        )
        .join(first, first.c.id == table.id)
        .join(Rule, Rule.id == table.rule_id)
        .join(Congregation, Congregation.id == table.congregation_id)
        .outerjoin(Booking, of_same(Booking, table, table.booking_id))
        .outerjoin(Episode, of_same(Episode, table, table.episode_id))
    )


def _lines(
    session: Session, rows: Named, kind: Literal["execution", "job"]
) -> Iterable[Line]:
    for at, id_, state, booking, episode, rule, guest, title, house in session.execute(
        rows
    ):
        subject = guest or title or booking or episode or ""
        yield Line(at, kind, id_, rule, subject, house, state)


def _events(session: Session) -> Iterable[Line]:
    rows = session.execute(
        select(
            Event.created_at,
            Event.id,
            Event.type,
            Event.booking_id,
            Event.episode_id,
            Booking.guest_name,
            Congregation.name,
        )
        .join(Congregation, Congregation.id == Event.congregation_id)
        .outerjoin(
            Booking,
            and_(
                Booking.congregation_id == Event.congregation_id,
                Booking.id == Event.booking_id,
            ),
        )
        .order_by(Event.created_at.desc(), Event.id.desc())
        .limit(ROWS)
    )
    for at, id_, type_, booking, episode, guest, house in rows:
        subject = guest or booking or episode or ""
        yield Line(at, "event", id_, event_title(type_), subject, house, None)
