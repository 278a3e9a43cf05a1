"""A house in which a booking has a story."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from dashboard.congregations.records import bookings_of, names_of
from dashboard.congregations.timeline import Timeline, timeline
from tasks.automation.entities import Kind, find_record
from tasks.db import Begin
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Episode,
    EpisodeGuest,
    Event,
    Execution,
    JobState,
    Reason,
    new_id,
)
from tasks.operations.audit import Actor, Subject, record
from tests.support import factories
from tests.support.factories import NOW

ANNA = Actor("anna@example.org")


MINUTE = timedelta(minutes=1)


def event(session: Session, of: UUID, at: datetime, **values: object) -> Event:
    row = Event(
        congregation_id=of,
        id=new_id(),
        type="booking.confirmed",
        podcast_id="show",
        source="api",
        occurred_at=at,
        created_at=at,
        **{"booking_id": "b1"} | values,
    )
    session.add(row)
    session.flush()
    return row


def attempt(
    session: Session, execution: Execution, number: int, at: datetime, **values: object
) -> None:
    session.add(
        Attempt(
            congregation_id=execution.congregation_id,
            execution_id=execution.id,
            number=number,
            worker="w",
            started_at=at,
            finished_at=at,
            **{"outcome": AttemptOutcome.SUCCEEDED} | values,
        )
    )
    session.flush()


@pytest.fixture
def house(begin: Begin) -> UUID:
    """Return a congregation in which a booking has some past and some future."""
    with begin() as session:
        of = factories.congregation(session)
        about = {"congregation_id": of, "podcast_id": "show"}
        session.add(Episode(**about, id="e1", title="Bells"))
        session.add(EpisodeGuest(**about, id="g1", name="Ada"))
        factories.booking(session, of, episode_id="e1", guest_id="g1")
        rule, reminder = factories.rule(session, of), factories.reminder(session, of)
        told = event(session, of, NOW)
        made = factories.execution(
            session,
            rule,
            event_id=told.id,
            created_at=NOW,
            episode_id="e1",
            guest_id="g1",
            state="succeeded",
        )
        attempt(
            session, made, 1, NOW + MINUTE, outcome=AttemptOutcome.RETRY, error="No"
        )
        attempt(session, made, 2, NOW + 3 * MINUTE)
        subject = Subject("execution", str(made.id), of)
        record(session, ANNA, "execution.retried", subject, "Queued it again.")
        factories.job(
            session,
            reminder,
            state=JobState.CANCELLED,
            reason=Reason.OPERATOR,
            settled_at=NOW + 2 * MINUTE,
        )
        ahead = NOW + timedelta(days=1)
        factories.job(session, reminder, run_at=ahead, due_at=ahead)
        later = NOW + timedelta(days=2)
        factories.execution(session, rule, run_at=later, due_at=later)
        return of


def story(
    session: Session,
    of: UUID,
    kind: Kind = "booking",
    id_: str = "b1",
    cursor: str | None = None,
    limit: int = 50,
) -> Timeline:
    found = find_record(session, kind, of, id_)
    names = names_of(found, bookings_of(session, found))
    return timeline(session, names, cursor, limit)


def kinds(moments: object) -> list[str]:
    assert isinstance(moments, list)
    return [each.kind for each in moments]
