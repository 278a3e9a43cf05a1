"""One booking's past and future: what happened, what was done, what is planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from tasks.automation.triggers import TRIGGERS
from tasks.models import (
    Booking,
    Event,
    Execution,
    ExecutionState,
    JobState,
    Rule,
    ScheduledJob,
)
from tasks.models.reason import SENTENCES, Reason

#: The most rows of each kind; a booking has a dozen.
EACH_AT_MOST: Final = 100

Kind = Literal["event", "execution", "job"]


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of a timeline."""

    at: datetime
    kind: Kind
    id: UUID
    title: str  # the event's title, or the rule's name
    state: str | None  # of the execution or job; None: an event has none
    note: str | None  # the error, the reason's sentence, or the recipient
    is_ahead: bool  # it has not happened yet


def timeline(session: Session, of: Booking, *, now: datetime) -> list[Moment]:
    """Return a booking's moments, the farthest in the future first."""
    moments = [
        *_events(session, of),
        *_jobs(session, of),
        *_executions(session, of, now),
    ]
    return sorted(moments, key=lambda each: (each.at, each.id), reverse=True)


def event_title(kind: str) -> str:
    """Return what operators call an event; one that no trigger knows keeps its word."""
    return TRIGGERS[kind].title if kind in TRIGGERS else kind


def _events(session: Session, of: Booking) -> Iterable[Moment]:
    rows = session.scalars(
        select(Event)
        .where(Event.congregation_id == of.congregation_id, Event.booking_id == of.id)
        .order_by(Event.created_at.desc())
        .limit(EACH_AT_MOST)
    )
    for row in rows:
        title = event_title(row.type)
        yield Moment(row.created_at, "event", row.id, title, None, None, False)


def _jobs(session: Session, of: Booking) -> Iterable[Moment]:
    rows = session.scalars(
        select(ScheduledJob)
        .options(joinedload(ScheduledJob.rule).load_only(Rule.name))
        .where(
            ScheduledJob.congregation_id == of.congregation_id,
            ScheduledJob.booking_id == of.id,
            # What a dispatched job led to stands in the timeline itself.
            ScheduledJob.state != JobState.DISPATCHED,
        )
        .order_by(ScheduledJob.due_at.desc())
        .limit(EACH_AT_MOST)
    )
    for row in rows:
        is_open = row.state is JobState.PENDING
        at = row.run_at if is_open else row.settled_at or row.created_at
        note = _sentence(row.reason)
        yield Moment(at, "job", row.id, row.rule.name, row.state, note, is_open)


def _executions(session: Session, of: Booking, now: datetime) -> Iterable[Moment]:
    rows = session.scalars(
        select(Execution)
        .options(joinedload(Execution.rule).load_only(Rule.name))
        .where(
            Execution.congregation_id == of.congregation_id,
            Execution.booking_id == of.id,
        )
        .order_by(Execution.created_at.desc())
        .limit(EACH_AT_MOST)
    )
    for row in rows:
        is_open = row.state is ExecutionState.PENDING and row.run_at > now
        note = row.error or _sentence(row.reason) or row.recipient
        at = row.settled_at or row.run_at
        yield Moment(at, "execution", row.id, row.rule.name, row.state, note, is_open)


def _sentence(reason: Reason | None) -> str | None:
    return None if reason is None else SENTENCES[reason]
