"""Rules, records and what became of them, as evidence that needs no database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tasks.automation.keys import Entity, Ids
from tasks.automation.planner import No, Subject, Wanted
from tasks.models import (
    Booking,
    BookingStatus,
    Decision,
    DecisionOutcome,
    Episode,
    EpisodeGuest,
    EpisodeStatus,
    Event,
    Execution,
    ExecutionState,
    JobState,
    Reason,
    Rule,
    ScheduledJob,
    new_id,
)
from tests.support.factories import NOW

DAY = timedelta(days=1)


OF = new_id()


def rule(trigger: str = "booking.confirmed", **values: Any) -> Rule:
    defaults: dict[str, Any] = {
        "id": new_id(),
        "congregation_id": OF,
        "name": "Welcome",
        "enabled": True,
        "version": 1,
        "trigger_type": trigger,
        "created_at": NOW - 9 * DAY,
        "updated_at": NOW - 9 * DAY,
    }
    return Rule(**defaults | values)


def reminder(**values: Any) -> Rule:
    return rule("time.before_recording", **values)


def booking(**values: Any) -> Booking:
    defaults: dict[str, Any] = {
        "congregation_id": OF,
        "id": "b1",
        "podcast_id": "show",
        "status": BookingStatus.CONFIRMED,
        "confirmed_at": NOW - 5 * DAY,
        "created_at": NOW - 6 * DAY,
    }
    return Booking(**defaults | values)


def episode(**values: Any) -> Episode:
    defaults: dict[str, Any] = {
        "congregation_id": OF,
        "id": "e1",
        "podcast_id": "show",
        "status": EpisodeStatus.DRAFT,
        "created_at": NOW - 6 * DAY,
    }
    return Episode(**defaults | values)


GUEST = EpisodeGuest(
    congregation_id=OF, id="g1", podcast_id="show", created_at=NOW - 6 * DAY
)


REQUESTED = booking(status=BookingStatus.REQUESTED, confirmed_at=None)


EVENT = Event(id=new_id(), created_at=NOW - 5 * DAY, podcast_id="show")


def said(reason: Reason, detail: str | None = None, **values: Any) -> Decision:
    return Decision(
        outcome=DecisionOutcome.NO, reason=reason.value, detail=detail, **values
    )


def planned(due_in: timedelta, reason: Reason | None = None, **values: Any) -> Wanted:
    subject = Subject(OF, Ids("show", booking_id="b1"), {}, "UTC")
    at = NOW + due_in
    return Wanted(
        rule=reminder(),
        subject=subject,
        entity=Entity("booking", "b1"),
        key="k",
        reference_at=at + DAY,
        due_at=at,
        run_at=at,
        reason=reason,
        **values,
    )


UNDATED = No(reminder(), Entity("booking", "b1"), Reason.NO_REFERENCE_DATE)


def job(state: JobState, reason: Reason | None = None, **values: Any) -> ScheduledJob:
    defaults: dict[str, Any] = {"id": new_id(), "run_at": NOW + DAY, "settled_at": None}
    return ScheduledJob(state=state, reason=reason, **defaults | values)


def execution(state: ExecutionState, **values: Any) -> Execution:
    defaults: dict[str, Any] = {"id": new_id(), "run_at": NOW, "failures": 0}
    return Execution(state=state, **defaults | values)


FIRED = Decision(outcome=DecisionOutcome.FIRED, execution_id=new_id())


S = ExecutionState
