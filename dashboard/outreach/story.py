"""An engagement's timeline: mails, events and deeds, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models import (
    AuditEntry,
    Direction,
    Engagement,
    EngagementMessage,
    Event,
    PassedBecause,
    WakeState,
)
from tasks.outreach.telling import event_id_of
from tasks.saying import mark

#: Rows of each kind that the timeline shows.
SHOWN_MAX: Final = 50

#: Why a schedule passed, for people.
PASSED: Final = {
    PassedBecause.SUPPRESSED: mark("The address gets no mails, so nobody was woken."),
    PassedBecause.PAUSED: mark("The engagement was paused, so nobody was woken."),
    PassedBecause.AGENT_PAUSED: mark("The agent was paused, so it was not woken."),
    PassedBecause.REPLIED: mark(
        "The contact replied, and the engagement stops on a reply."
    ),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened."""

    id: str
    at: datetime
    icon: str
    text: str
    note: str = ""
    event_id: UUID | None = None  # of the event's page


def story(session: Session, row: Engagement) -> list[Moment]:
    """Return what happened to an engagement, newest first; three queries."""
    found = [
        *_events(session, row),
        *_mails(session, row),
        *_deeds(session, row),
        *_passed(row),
        Moment("enrolled", row.created_at, "person-plus", mark("Enrolled")),
    ]
    return sorted(found, key=lambda moment: moment.at, reverse=True)


def _events(session: Session, row: Engagement) -> Iterator[Moment]:
    first = max(1, row.revision - SHOWN_MAX + 1)
    ids = [event_id_of(row, number) for number in range(first, row.revision + 1)]
    events = session.scalars(
        select(Event).where(
            Event.congregation_id == row.congregation_id, Event.external_id.in_(ids)
        )
    )
    for event in events:
        yield Moment(
            f"event-{event.id}",
            event.created_at,
            "bell",
            mark("The agent was woken"),
            event_id=event.id,
        )


def _mails(session: Session, row: Engagement) -> Iterator[Moment]:
    mails = session.scalars(
        select(EngagementMessage)
        .where(EngagementMessage.engagement_id == row.id)
        .order_by(EngagementMessage.at.desc())
        .limit(SHOWN_MAX)
    )
    for number, mail in enumerate(mails):
        is_out = mail.direction is Direction.OUTBOUND
        yield Moment(
            f"mail-{number}",
            mail.at,
            "envelope-arrow-up" if is_out else "envelope-arrow-down",
            mark("The agent wrote") if is_out else mark("The contact wrote"),
            mail.message_id,
        )


def _deeds(session: Session, row: Engagement) -> Iterator[Moment]:
    deeds = session.scalars(
        select(AuditEntry)
        .where(
            AuditEntry.subject_kind == "engagement",
            AuditEntry.subject_id == str(row.id),
        )
        .order_by(AuditEntry.created_at.desc())
        .limit(SHOWN_MAX)
    )
    for deed in deeds:
        yield Moment(
            f"deed-{deed.id}", deed.created_at, "person", deed.summary, deed.actor
        )


def _passed(row: Engagement) -> Iterator[Moment]:
    if row.settled_at is None:
        return
    if row.wake_state is WakeState.PASSED and row.passed_because is not None:
        text = PASSED[row.passed_because]
        yield Moment("passed", row.settled_at, "skip-forward", text)
    elif row.wake_state is WakeState.SET_ASIDE:
        yield Moment(
            "set-aside",
            row.settled_at,
            "exclamation-triangle",
            mark("Set aside: no event could be made of it"),
            row.trouble or "",
        )
