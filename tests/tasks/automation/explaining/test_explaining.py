"""Each way in which nothing happens has its sentence, and the right step decides."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tasks.automation.explaining import Check, Facts, Holds, Present, explain
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
from tasks.saying import language
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

EVENTS: dict[str, tuple[Facts, Holds, str]] = {
    "no event at all": (
        Facts(rule(), REQUESTED),
        Holds.NO,
        "No booking.confirmed was ever reported for it; its status is requested.",
    ),
    "events that old are gone": (
        Facts(rule(), booking(), kept_since=NOW - DAY),
        Holds.NO,
        "What was reported before Mon 9 Mar 2026, 12:00 UTC is no longer kept.",
    ),
    "another kind of record": (
        Facts(rule("episode.published"), booking()),
        Holds.NO,
        "The rule waits for episode.published, which is about an episode; none was "
        "reported that names this booking.",
    ),
    "switched off": (
        Facts(rule(enabled=False), booking()),
        Holds.NO,
        "The rule is switched off.",
    ),
    "deleted": (
        Facts(rule(deleted_at=NOW - DAY), booking()),
        Holds.NO,
        "The rule was deleted on Mon 9 Mar 2026, 12:00 UTC.",
    ),
    "another podcast": (
        Facts(rule(podcast_ids=["other"]), booking()),
        Holds.NO,
        "The rule belongs to other podcasts than this booking, which is of show.",
    ),
    "made after the event": (
        Facts(rule(created_at=NOW - DAY), booking(), EVENT),
        Holds.NO,
        "The rule was made on Mon 9 Mar 2026, 12:00 UTC, after that",
    ),
    "changed after the event": (
        Facts(rule(version=2, updated_at=NOW - DAY), booking(), EVENT),
        Holds.NO,
        "The rule was changed on Mon 9 Mar 2026, 12:00 UTC, after that",
    ),
    "too long ago to be told": (
        Facts(rule(), booking(), EVENT),
        Holds.NO,
        "it is too long ago",
    ),
    "a condition was false": (
        Facts(
            rule(),
            booking(),
            EVENT,
            said(Reason.CONDITION_FALSE, "Wanted: guest.name is “Ada”. Seen: “Zoë”."),
        ),
        Holds.NO,
        "the rule said no: A condition of the rule was not met. Wanted: guest.name is "
        "“Ada”. Seen: “Zoë”.",
    ),
    "it was off at that time": (
        Facts(rule(), booking(), EVENT, said(Reason.RULE_DISABLED)),
        Holds.NO,
        "the rule said no. At that time: The rule is switched off.",
    ),
    "a reason that nobody knows any more": (
        Facts(
            rule(),
            booking(),
            EVENT,
            Decision(outcome=DecisionOutcome.NO, reason="moon_phase"),
        ),
        Holds.NO,
        "the rule said no: Moon phase.",
    ),
    "an unknown trigger": (
        Facts(rule("moon.full"), booking()),
        Holds.NO,
        "It waits for moon.full, which is unknown.",
    ),
    "it acted": (
        Facts(
            rule(),
            booking(),
            EVENT,
            FIRED,
            execution=execution(S.SUCCEEDED, recipient="a@b.org", settled_at=NOW),
        ),
        Holds.YES,
        "It acted for a@b.org on Tue 10 Mar 2026, 12:00 UTC.",
    ),
    "it acted, and is off by now": (
        Facts(
            rule(enabled=False),
            booking(),
            EVENT,
            FIRED,
            execution=execution(S.SUCCEEDED, settled_at=NOW),
            present=Present(guard=Reason.RULE_DISABLED),
        ),
        Holds.YES,
        "It acted on",
    ),
    "the guard stopped it": (
        Facts(
            rule(),
            booking(),
            EVENT,
            FIRED,
            execution=execution(S.SKIPPED, reason=Reason.SUPPRESSED),
        ),
        Holds.NO,
        "ended as skipped: The address is on the list of those that get no mails.",
    ),
    "it failed": (
        Facts(
            rule(),
            booking(),
            EVENT,
            FIRED,
            execution=execution(
                S.FAILED, reason=Reason.REFUSED, error="Refused: no such mailbox."
            ),
        ),
        Holds.NO,
        "ended as failed: Refused: no such mailbox.",
    ),
    "it is retried": (
        Facts(
            rule(),
            booking(),
            EVENT,
            FIRED,
            execution=execution(S.PENDING, failures=1, run_at=NOW + DAY),
        ),
        Holds.OPEN,
        "Another attempt waits for its time, Wed 11 Mar 2026, 12:00 UTC.",
    ),
    "no worker took it": (
        Facts(
            rule(),
            booking(),
            EVENT,
            FIRED,
            execution=execution(S.PENDING, run_at=NOW - DAY),
        ),
        Holds.OPEN,
        "due since Mon 9 Mar 2026, 12:00 UTC; no worker has taken it yet",
    ),
    "the lane is paused": (
        Facts(
            rule(),
            booking(),
            EVENT,
            FIRED,
            execution=execution(S.PENDING),
            paused=frozenset({"executions"}),
        ),
        Holds.NO,
        "the lane “executions” is paused",
    ),
    "a worker is at it": (
        Facts(rule(), booking(), EVENT, FIRED, execution=execution(S.RUNNING)),
        Holds.OPEN,
        "A worker is at it now.",
    ),
}

DATES: dict[str, tuple[Facts, Holds, str]] = {
    "a booking that is not confirmed": (
        Facts(reminder(), REQUESTED, plan=UNDATED),
        Holds.NO,
        "The rule counts from the recording of a confirmed booking; its status is "
        "requested.",
    ),
    "an episode without a date": (
        Facts(rule("time.before_publish"), episode(), plan=UNDATED),
        Holds.NO,
        "The episode has no date on which it goes out; its status is draft.",
    ),
    "an episode that a booking records": (
        Facts(reminder(), episode(), plan=UNDATED),
        Holds.NO,
        "a booking's counts instead",
    ),
    "a booking and a publication": (
        Facts(rule("time.after_publish"), booking()),
        Holds.NO,
        "the publication of an episode, and this is a booking",
    ),
    "an episode and a confirmation": (
        Facts(rule("time.after_booking"), episode()),
        Holds.NO,
        "the confirmation of a booking, and this is an episode",
    ),
    "a guest has no dates": (
        Facts(reminder(), GUEST),
        Holds.NO,
        "a guest has no such date",
    ),
    "made when the date was known": (
        Facts(reminder(created_at=NOW - DAY), booking(), plan=planned(DAY)),
        Holds.NO,
        "Its time would be Wed 11 Mar 2026, 12:00 UTC, and no job is planned: the rule "
        "was made on Mon 9 Mar 2026, 12:00 UTC, when the date was known already",
    ),
    "off when the date was told": (
        Facts(reminder(), booking(), plan=planned(DAY)),
        Holds.NO,
        "no job is planned: the rule was off, or another one",
    ),
    "the offset lies in the past": (
        Facts(reminder(), booking(), plan=planned(-DAY, reason=Reason.OFFSET_IN_PAST)),
        Holds.NO,
        "Its time was Mon 9 Mar 2026, 12:00 UTC, and no job was planned",
    ),
    "made after its time": (
        Facts(
            reminder(created_at=NOW - timedelta(hours=1)),
            booking(),
            plan=planned(-DAY, reason=Reason.OFFSET_IN_PAST),
        ),
        Holds.NO,
        "the rule was made on Tue 10 Mar 2026, 11:00 UTC, after that.",
    ),
    "planned too late": (
        Facts(
            reminder(),
            booking(),
            plan=planned(-DAY),
            job=job(JobState.SKIPPED, Reason.OFFSET_IN_PAST, settled_at=NOW),
        ),
        Holds.NO,
        "Its job ended as skipped on Tue 10 Mar 2026, 12:00 UTC. The time to do this "
        "had already passed when it was planned.",
    ),
    "the worker was away": (
        Facts(reminder(), booking(), job=job(JobState.MISSED, Reason.TOO_LATE)),
        Holds.NO,
        "ended as missed. It was due too long ago to still be of help.",
    ),
    "it waits": (
        Facts(reminder(), booking(), plan=planned(DAY), job=job(JobState.PENDING)),
        Holds.OPEN,
        "A job waits for its time, Wed 11 Mar 2026, 12:00 UTC.",
    ),
    "it waits in vain": (
        Facts(
            reminder(enabled=False),
            booking(),
            plan=planned(DAY),
            job=job(JobState.PENDING),
            present=Present(guard=Reason.RULE_DISABLED),
        ),
        Holds.NO,
        "When its time comes it is skipped, unless this changes: The rule is switched "
        "off.",
    ),
    "its lane is paused": (
        Facts(
            reminder(),
            booking(),
            plan=planned(DAY),
            job=job(JobState.PENDING),
            paused=frozenset({"scheduled_jobs"}),
        ),
        Holds.NO,
        "the lane “scheduled jobs” is paused",
    ),
    "it became an execution": (
        Facts(
            reminder(),
            booking(),
            plan=planned(-DAY),
            job=job(JobState.DISPATCHED, settled_at=NOW),
            execution=execution(S.SUCCEEDED, settled_at=NOW),
        ),
        Holds.YES,
        "It acted on Tue 10 Mar 2026, 12:00 UTC.",
    ),
}


@pytest.mark.parametrize("case", [*EVENTS, *DATES])
def test_the_step_that_decided_says_why(case: str) -> None:
    facts, holds, sentence = (EVENTS | DATES)[case]
    verdict = explain(facts, NOW).verdict
    assert sentence in verdict.sentence
    assert verdict.holds is holds


def test_a_duplicate_leads_to_the_first_execution() -> None:
    first = new_id()
    decision = said(Reason.DUPLICATE, execution_id=first)
    verdict = explain(Facts(rule(), booking(), EVENT, decision), NOW).verdict
    assert verdict.link is not None
    assert (verdict.link.kind, verdict.link.id) == ("execution", first)


def test_what_would_stop_it_now_is_a_note_where_nothing_waits() -> None:
    facts = Facts(
        rule(), booking(status=BookingStatus.CANCELLED), EVENT, said(Reason.DUPLICATE)
    )
    facts = replace(facts, present=Present(guard=Reason.BOOKING_CANCELLED))
    last = explain(facts, NOW).checks[-1]
    expected = "If it were to act now, this would stop it: The booking was cancelled."
    assert last == Check(Holds.NOTE, expected)


def test_conditions_that_do_not_hold_now_are_told_with_what_was_seen() -> None:
    present = Present(unmet="Wanted: guest.name is “Ada”. Seen: nothing.")
    last = explain(Facts(rule(), booking(), present=present), NOW).checks[-1]
    assert last.sentence.endswith("Wanted: guest.name is “Ada”. Seen: nothing.")


def test_quiet_hours_are_told_as_a_wait() -> None:
    present = Present(quiet_until=NOW + DAY)
    last = explain(Facts(rule(), booking(), present=present), NOW).checks[-1]
    assert last.holds is Holds.NOTE
    assert "it would wait until Wed 11 Mar 2026, 12:00 UTC" in last.sentence


def test_why_it_ended_is_said_in_the_reader_s_language() -> None:
    row = execution(S.SKIPPED, error="The address answered 503.")
    facts = Facts(rule(), booking(), EVENT, FIRED, execution=row)
    token = language.set("fr")
    try:
        verdict = explain(facts, NOW).verdict
    finally:
        language.reset(token)
    assert verdict.sentence.endswith("L’adresse a répondu 503.")
