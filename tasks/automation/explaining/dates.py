"""Whether the date that a rule counts from is known, and what was planned for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from tasks.automation.entities import Record
from tasks.automation.explaining.outcomes import waiting
from tasks.automation.explaining.parts import (
    Check,
    Facts,
    Holds,
    Link,
    end_of,
    sentence_of,
    status_of,
)
from tasks.automation.planner import Wanted
from tasks.automation.triggers import Reference, Trigger
from tasks.models.booking import Booking
from tasks.models.episode import EpisodeGuest
from tasks.models.reason import SENTENCES
from tasks.models.scheduled_job import JobState, ScheduledJob
from tasks.saying import mark, say
from tasks.saying.formats import instant

#: What is said of the date that a rule counts from: it is to come, it has passed, a
#: guest has none, an unconfirmed booking has none.
_AHEAD: Final[dict[Reference, str]] = {
    "recording": mark("The date that it counts from, the recording, is on %(when)s."),
    "publish": mark("The date that it counts from, the publication, is on %(when)s."),
    "booking": mark("The date that it counts from, the confirmation, is on %(when)s."),
}
_PAST: Final[dict[Reference, str]] = {
    "recording": mark("The date that it counts from, the recording, was on %(when)s."),
    "publish": mark("The date that it counts from, the publication, was on %(when)s."),
    "booking": mark("The date that it counts from, the confirmation, was on %(when)s."),
}
_OF_GUEST: Final[dict[Reference, str]] = {
    "recording": mark(
        "The rule counts from the recording, and a guest has no such date."
    ),
    "publish": mark(
        "The rule counts from the publication, and a guest has no such date."
    ),
    "booking": mark(
        "The rule counts from the confirmation, and a guest has no such date."
    ),
}
_UNCONFIRMED: Final[dict[Reference, str]] = {
    "recording": mark(
        "The rule counts from the recording of a confirmed booking%(status)s."
    ),
    "booking": mark(
        "The rule counts from the confirmation of a confirmed booking%(status)s."
    ),
}


def of_date(facts: Facts, trigger: Trigger, now: datetime) -> Iterator[Check]:
    """Yield the steps from the date to the scheduled job."""
    reference = trigger.reference or "recording"
    plan = facts.plan
    if facts.job is None and not isinstance(plan, Wanted):
        yield Check(Holds.NO, _undated(facts.record, reference))
        return
    if isinstance(plan, Wanted):
        known = _AHEAD if plan.reference_at > now else _PAST
        told = say(known[reference], when=instant(plan.reference_at))
        yield Check(Holds.YES, told)
        if facts.job is None:
            yield _unplanned(facts, plan, now)
    if facts.job is not None:
        yield _of_job(facts.job, facts.paused, now)


def _undated(record: Record, reference: Reference) -> str:
    if isinstance(record, EpisodeGuest):
        return say(_OF_GUEST[reference])
    if isinstance(record, Booking) and reference == "publish":
        return say(
            "The rule counts from the publication of an episode, and this is a booking."
        )
    if isinstance(record, Booking):
        return say(_UNCONFIRMED[reference], status=status_of(record))
    if reference == "booking":
        return say(
            "The rule counts from the confirmation of a booking, and this is an "
            "episode."
        )
    if reference == "publish":
        status = status_of(record)
        return say(
            "The episode has no date on which it goes out%(status)s.", status=status
        )
    return say(
        "The episode has no recording date of its own; a booking's counts instead."
    )


def _unplanned(facts: Facts, plan: Wanted, now: datetime) -> Check:
    rule, since = facts.rule, _known_since(facts.record)
    made_late = rule.created_at > since
    made = instant(rule.created_at)
    why = (
        say(
            "the rule was made on %(when)s, when the date was known already, and "
            "begins with the next date that it hears of",
            when=made,
        )
        if made_late
        else say("the rule was off, or another one, when the date was told")
    )
    due = instant(plan.due_at)
    if plan.reason is None and plan.due_at > now:
        told = say(
            "Its time would be %(when)s, and no job is planned: %(why)s. The rule's "
            "page can plan it for what is in the calendar.",
            when=due,
            why=why,
        )
        return Check(Holds.NO, told)
    if rule.created_at > plan.due_at and made_late:
        why = say("the rule was made on %(when)s, after that", when=made)
    told = say(
        "Its time was %(when)s, and no job was planned: %(why)s.", when=due, why=why
    )
    if plan.reason is not None:
        told += f" {say(SENTENCES[plan.reason])}"
    return Check(Holds.NO, told)


def _known_since(record: Record) -> datetime:
    confirmed = record.confirmed_at if isinstance(record, Booking) else None
    return confirmed or record.created_at


def _of_job(job: ScheduledJob, paused: frozenset[str], now: datetime) -> Check:
    link = Link("job", job.id)
    if job.state is JobState.PENDING:
        name = say("A job")
        return waiting(name, job.run_at, "scheduled_jobs", paused, now, link)
    at = None if job.settled_at is None else instant(job.settled_at)
    if job.state is JobState.DISPATCHED:
        told = (
            say("Its job became an execution on %(when)s.", when=at)
            if at
            else say("Its job became an execution.")
        )
        return Check(Holds.YES, told, link)
    told = _ended(end_of(job.state), at)
    why = sentence_of(job.reason) if job.reason else ""
    return Check(Holds.NO, f"{told} {why}".rstrip(), link)


def _ended(end: str, at: str | None) -> str:
    if at is None:
        return say("Its job %(ended)s.", ended=end)
    return say("Its job %(ended)s on %(when)s.", ended=end, when=at)
