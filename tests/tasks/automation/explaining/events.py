"""What can become of an event: case -> verdict, and the step that decided."""

from __future__ import annotations

from tasks.automation.explaining import Facts, Holds, Present
from tasks.models import Decision, DecisionOutcome, Reason
from tests.support.factories import NOW
from tests.tasks.automation.explaining.facts import (
    DAY,
    EVENT,
    FIRED,
    REQUESTED,
    S,
    booking,
    execution,
    rule,
    said,
)

EVENTS: dict[str, tuple[Facts, Holds, str]] = {
    "no event at all": (
        Facts(rule(), REQUESTED),
        Holds.NO,
        "No “Booking confirmed” was ever reported for it; its status is requested.",
    ),
    "events that old are gone": (
        Facts(rule(), booking(), kept_since=NOW - DAY),
        Holds.NO,
        "What was reported before Mon 9 Mar 2026, 12:00 UTC is no longer kept.",
    ),
    "another kind of record": (
        Facts(rule("episode.published"), booking()),
        Holds.NO,
        "The rule waits for “Episode published”, which is about an episode; none was "
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
