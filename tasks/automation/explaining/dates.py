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
    sentence_of,
    status_of,
    when,
)
from tasks.automation.planner import Wanted
from tasks.automation.triggers import Reference, Trigger
from tasks.models.booking import Booking
from tasks.models.episode import EpisodeGuest
from tasks.models.reason import SENTENCES
from tasks.models.scheduled_job import JobState, ScheduledJob

_DATES: Final[dict[Reference, str]] = {
    "recording": "the recording",
    "publish": "the publication",
    "booking": "the confirmation",
}


def of_date(facts: Facts, trigger: Trigger, now: datetime) -> Iterator[Check]:
    """Yield the steps from the date to the scheduled job."""
    date = _DATES[trigger.reference or "recording"]
    plan = facts.plan
    if facts.job is None and not isinstance(plan, Wanted):
        yield Check(Holds.NO, _undated(facts.record, trigger, date))
        return
    if isinstance(plan, Wanted):
        verb = "is" if plan.reference_at > now else "was"
        at = when(plan.reference_at)
        yield Check(Holds.YES, f"The date that it counts from, {date}, {verb} on {at}.")
        if facts.job is None:
            yield _unplanned(facts, plan, now)
    if facts.job is not None:
        yield _of_job(facts.job, facts.paused, now)


def _undated(record: Record, trigger: Trigger, date: str) -> str:
    if isinstance(record, EpisodeGuest):
        return f"The rule counts from {date}, and a guest has no such date."
    is_publish = trigger.reference == "publish"
    if isinstance(record, Booking) and is_publish:
        return f"The rule counts from {date} of an episode, and this is a booking."
    if isinstance(record, Booking):
        return f"The rule counts from {date} of a confirmed booking{status_of(record)}."
    if trigger.reference == "booking":
        return f"The rule counts from {date} of a booking, and this is an episode."
    if is_publish:
        return f"The episode has no date on which it goes out{status_of(record)}."
    return "The episode has no recording date of its own; a booking's counts instead."


def _unplanned(facts: Facts, plan: Wanted, now: datetime) -> Check:
    rule, since = facts.rule, _known_since(facts.record)
    made_late = rule.created_at > since
    why = (
        f"the rule was made on {when(rule.created_at)}, when the date was known "
        "already, and begins with the next date that it hears of"
        if made_late
        else "the rule was off, or another one, when the date was told"
    )
    if plan.reason is None and plan.due_at > now:
        return Check(
            Holds.NO,
            f"Its time would be {when(plan.due_at)}, and no job is planned: {why}. The "
            "rule's page can plan it for what is in the calendar.",
        )
    if rule.created_at > plan.due_at and made_late:
        why = f"the rule was made on {when(rule.created_at)}, after that"
    reason = "" if plan.reason is None else f" {SENTENCES[plan.reason]}"
    return Check(
        Holds.NO,
        f"Its time was {when(plan.due_at)}, and no job was planned: {why}.{reason}",
    )


def _known_since(record: Record) -> datetime:
    confirmed = record.confirmed_at if isinstance(record, Booking) else None
    return confirmed or record.created_at


def _of_job(job: ScheduledJob, paused: frozenset[str], now: datetime) -> Check:
    link = Link("job", job.id)
    if job.state is JobState.PENDING:
        return waiting("A job", job.run_at, "scheduled_jobs", paused, now, link)
    ended = "" if job.settled_at is None else f" on {when(job.settled_at)}"
    if job.state is JobState.DISPATCHED:
        return Check(Holds.YES, f"Its job became an execution{ended}.", link)
    why = sentence_of(job.reason) if job.reason else ""
    return Check(Holds.NO, f"Its job ended as {job.state}{ended}. {why}".rstrip(), link)
