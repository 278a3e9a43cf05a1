"""A search finds the rows that it says, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.db import Begin
from tasks.models import (
    Delivery,
    Event,
    Execution,
    ExecutionState,
    JobState,
    Podcast,
    Reason,
    ScheduledJob,
    new_id,
)
from tasks.operations.event_matching import EventMatching, events_that_match
from tasks.operations.matching import Matching, from_json, narrow
from tasks.search.deliveries import delivery_conditions
from tests.support import factories
from tests.support.factories import NOW
from tests.support.webhooks import webhooks

Find = Callable[[str], set[Any]]


def _check(find: Find, expected: Mapping[str, set[Any]]) -> None:
    found = {query: find(query) for query in expected}
    assert found == expected


def _executions(session: Session) -> dict[str, Any]:
    here = factories.congregation(session)
    there = factories.congregation(session, "elsewhere")
    factories.booking(session, here, guest_name="Anna Berg")
    factories.booking(session, there, id="b2", guest_name="Anna Tal")
    reminder = factories.rule(session, here, name="24h reminder")
    other = factories.rule(session, there, name="Thanks", action="webhook")
    day = timedelta(days=1)
    return {
        "failed": factories.execution(
            session,
            reminder,
            id=new_id(NOW - day),
            created_at=NOW - day,
            due_at=NOW - day,
            state=ExecutionState.FAILED,
            reason=Reason.ATTEMPTS_USED_UP,
            error="Timeout after 10 s (100%)",
            failures=5,
            recipient="anna@example.org",
            rule_version=2,
        ),
        "waits": factories.execution(
            session,
            other,
            id=new_id(NOW),
            created_at=NOW,
            due_at=NOW,
            run_at=NOW,
            booking_id="b2",
            action="webhook",
        ),
        "done": factories.execution(
            session,
            reminder,
            id=new_id(NOW),
            created_at=NOW,
            due_at=NOW + day,
            state=ExecutionState.SUCCEEDED,
            booking_id=None,
            action="start_lane",
            recipient="feeds",
        ),
    }


def _finder(
    session: Session, rows: Mapping[str, Execution]
) -> Callable[[str], set[str]]:
    session.flush()
    names = {row.id: name for name, row in rows.items()}

    def find(query: str) -> set[str]:
        matching = from_json(Matching, Matching(query=query).as_json())
        ids = session.scalars(narrow(select(Execution.id), Execution, matching))
        return {names[id_] for id_ in ids}

    return find


def test_executions_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        rows = _executions(session)
        _check(
            _finder(session, rows),
            {
                "": {"failed", "waits", "done"},
                "state:failed": {"failed"},
                "state:failed state:pending": {"failed", "waits"},
                "-state:failed -state:pending": {"done"},
                "rule:REMIND": {"failed", "done"},
                "-rule:remind": {"waits"},
                "action:webhook": {"waits"},
                "guest:anna": {"failed", "waits"},
                "guest:berg": {"failed"},
                "-guest:berg": {"waits", "done"},
                "booking:b2": {"waits"},
                "to:@example.org -state:pending": {"failed"},
                "error:timeout": {"failed"},
                "error:10%0": set(),
                'error:"(100%)"': {"failed"},
                "-error:timeout": {"waits", "done"},
                "reason:attempts_used_up": {"failed"},
                "trigger:booking.confirmed": {"failed", "waits", "done"},
                "due:<2026-03-10": {"failed"},
                "due:2026-03-11": {"done"},
                "due:>=2026-03-10T12:00": {"waits", "done"},
                "due:>2026-03-10": {"done"},
                "made:2026-03-09": {"failed"},
                "made:>2026-03-09": {"waits", "done"},
                "-made:2026-03-09": {"waits", "done"},
                "late:yes": {"waits"},
                "late:no": {"failed", "done"},
                "failures:>=5": {"failed"},
                "failures:0": {"waits", "done"},
                "version:2": {"failed"},
                "congregation:elsewhere": {"waits"},
                f"id:{rows['done'].id}": {"done"},
                f"event:{new_id()}": set(),
                "lane:feeds": {"done"},
                "lane:sync": set(),
                "podcast:show -congregation:elsewhere": {"failed", "done"},
                "episode:nothing": set(),
            },
        )


def test_text_and_fields_narrow_together(begin: Begin) -> None:
    with begin() as session:
        rows = _executions(session)
        matching = Matching(text="anna", query="-state:pending")
        found = session.scalars(narrow(select(Execution.id), Execution, matching))
        assert list(found) == [rows["failed"].id]


def test_scheduled_jobs_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        factories.booking(session, here, guest_name="Jörg")
        rule = factories.reminder(session, here, name="One day before")
        soon = factories.job(session, rule, due_at=NOW, run_at=NOW)
        gone = factories.job(
            session,
            rule,
            due_at=NOW + timedelta(days=3),
            state=JobState.SKIPPED,
            reason=Reason.BOOKING_CANCELLED,
            booking_id="b7",
        )
        starter = factories.reminder(session, here, name="Look at feeds")
        starter.action, starter.settings = "start_lane", {"lane": "feeds"}
        starts = factories.job(session, starter, booking_id="b9", state=JobState.MISSED)
        session.flush()
        names = {soon.id: "soon", gone.id: "gone", starts.id: "starts"}

        def find(query: str) -> set[str]:
            matching = Matching(query=query)
            ids = session.scalars(
                narrow(select(ScheduledJob.id), ScheduledJob, matching)
            )
            return {names[id_] for id_ in ids}

        _check(
            find,
            {
                "state:all": {"soon", "gone", "starts"},
                "state:skipped": {"gone"},
                "-state:skipped -state:missed": {"soon"},
                "due:>2026-03-11": {"gone"},
                "guest:jörg": {"soon"},
                "booking:b7": {"gone"},
                "action:email": {"soon", "gone"},
                "reason:booking_cancelled": {"gone"},
                "late:yes": {"soon"},
                "rule:before": {"soon", "gone"},
                "made:<1990-01-01": set(),
                "lane:feeds": {"starts"},
            },
        )


def _events(session: Session) -> tuple[Event, Event]:
    """Add an event of a booking that an endpoint was told of, and another one."""
    here = factories.congregation(session)
    factories.booking(session, here, guest_name="Anna")
    session.add(Podcast(congregation_id=here, id="other", title="On bells"))
    of = {"congregation_id": here, "occurred_at": NOW, "created_at": NOW}
    told = Event(
        **of,
        id=new_id(),
        type="booking.confirmed",
        booking_id="b1",
        podcast_id="show",
        source="api",
    )
    quiet = Event(
        **of, id=new_id(), type="episode.published", podcast_id="other", source="python"
    )
    session.add_all([told, quiet])
    session.flush()
    webhooks(session, told, "timeout")
    return told, quiet


def test_events_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        told, quiet = _events(session)
        names = {told.id: "told", quiet.id: "quiet"}

        def find(query: str) -> set[str]:
            matching = EventMatching(query=query)
            asked = events_that_match(session, matching)
            found = session.scalars(select(Event.id).where(*asked))
            return {names[id_] for id_ in found}

        _check(
            find,
            {
                "type:booking.confirmed": {"told"},
                "-type:booking.confirmed": {"quiet"},
                "guest:anna": {"told"},
                "booking:anna": {"told"},
                "-booking:anna": {"quiet"},
                "podcast:bells": {"quiet"},
                "source:API": {"told"},
                "heard:2026-03-10 happened:2026-03-10": {"told", "quiet"},
                "heard:>2026-03-10": set(),
                "congregation:bonifatius -source:api": {"quiet"},
                "contact:nobody": set(),
                f"id:{told.id}": {"told"},
            },
        )


def test_deliveries_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        told, quiet = _events(session)

        def sent(query: str) -> set[str]:
            asked = delivery_conditions(query, "", [])
            found = session.scalars(select(Delivery.message_id).where(*asked))
            return {"told" if id_ == told.id else "another" for id_ in found}

        one: set[str] = {"told"}
        _check(
            sent,
            {
                "state:failed": one,
                "-state:failed": set(),
                "endpoint:website": one,
                "endpoint:timeout.example": one,
                "error:TIMEOUT -status:500": one,
                "status:>=500": set(),
                "tries:1": one,
                f"event:{told.id}": one,
                f"event:{quiet.id}": set(),
                "type:booking.confirmed reason:attempts_used_up": one,
                "congregation:elsewhere": set(),
                "made:<1990-01-01": set(),
            },
        )
        assert len(delivery_conditions("", "timeout", [])) == 2
