"""What can become of a date: case -> verdict, and the step that decided."""

from __future__ import annotations

from datetime import timedelta

from tasks.automation.explaining import Facts, Holds, Present
from tasks.models import JobState, Reason
from tests.support.factories import NOW
from tests.tasks.automation.explaining.facts import (
    DAY,
    GUEST,
    REQUESTED,
    UNDATED,
    S,
    booking,
    episode,
    execution,
    job,
    planned,
    reminder,
    rule,
)

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
