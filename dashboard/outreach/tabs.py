"""The tabs above the engagements: what stands in each, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.paging import Key
from tasks.models import Engagement
from tasks.saying import mark

NEWEST_FIRST: Final[Sequence[Key]] = (Engagement.id.desc(),)
#: Armed engagements have an instant, so it may be sorted by.
_SOONEST_FIRST: Final[Sequence[Key]] = (Engagement.next_action_at, Engagement.id)


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab."""

    title: str
    when_empty: str  # a sentence for operators
    query: str = ""  # what stands there, as a search of the list
    order: Sequence[Key] = NEWEST_FIRST


#: Word in the address -> tab.
TABS: Final[Mapping[str, Tab]] = {
    "": Tab(
        mark("All"), mark("Agents enrol contacts over the API; you can enrol one here.")
    ),
    "due": Tab(
        mark("Due"),
        mark("No instant has come that was not announced: every agent has been woken."),
        "state:armed next:<=now",
        _SOONEST_FIRST,
    ),
    "held": Tab(
        mark("Held back"),
        mark("Nothing that is due waits for quiet hours to end or for a daily cap."),
        "waits:yes",
        order=_SOONEST_FIRST,
    ),
    "upcoming": Tab(
        mark("Upcoming"),
        mark("No agent has set an instant that is still to come."),
        "state:armed next:>now",
        _SOONEST_FIRST,
    ),
    "unanswered": Tab(
        mark("Waiting for a reply"),
        mark("Whoever was written to has answered."),
        "mailed:yes replied:no",
    ),
    "replied": Tab(
        mark("Replied"), mark("No contact has answered yet."), "replied:yes"
    ),
    "announced": Tab(
        mark("Announced"),
        mark("No agent was woken for the present schedule of an engagement."),
        "state:announced",
    ),
    "passed": Tab(
        mark("Passed"),
        mark("No schedule passed because of a pause, a reply or a stopped address."),
        "state:passed",
    ),
    "stopped": Tab(
        mark("Stopped"),
        mark("Every engagement has a schedule."),
        "state:idle",
    ),
    "suppressed": Tab(
        mark("Suppressed"),
        mark("Every contact may be written to."),
        "suppressed:yes",
    ),
    "set_aside": Tab(
        mark("Set aside"),
        mark("An event could be made of everything that came due."),
        "state:set_aside",
    ),
}
