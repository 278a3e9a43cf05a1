"""What is offered above the engagements: verbs on all that match, with numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from dashboard.amounts import amounts, as_many
from dashboard.filters import number
from dashboard.operations.words import WORDS
from dashboard.outreach.filters import EngagementFilter
from dashboard.outreach.queries import Listed
from dashboard.outreach.tabs import NEWEST_FIRST
from dashboard.paging import Page
from dashboard.tallies import AtLeast
from tasks.lane import COUNT_CAP
from tasks.models import Engagement, OperationKind
from tasks.operations.kinds import Asked
from tasks.saying import mark, say, say_many

_K = OperationKind
#: Word in the address -> what is done.
KINDS: Final = {
    "wake": _K.WAKE_ENGAGEMENTS,
    "stop": _K.STOP_ENGAGEMENTS,
    "pause": _K.PAUSE_ENGAGEMENTS,
    "resume": _K.RESUME_ENGAGEMENTS,
}
#: The same -> what a link to the question says: to all of them, or to so many.
_SAYINGS: Final[Mapping[str, tuple[str, Callable[[int, str], str]]]] = {
    "wake": (
        mark("Wake all that can be woken"),
        lambda n, shown: say_many(
            n,
            "Wake the one that can be woken",
            "Wake all %(n)s that can be woken",
            n=shown,
        ),
    ),
    "stop": (
        mark("Stop all that have a schedule"),
        lambda n, shown: say_many(
            n,
            "Stop the one that has a schedule",
            "Stop all %(n)s that have a schedule",
            n=shown,
        ),
    ),
    "pause": (
        mark("Pause all that are not paused"),
        lambda n, shown: say_many(
            n,
            "Pause the one that is not paused",
            "Pause all %(n)s that are not paused",
            n=shown,
        ),
    ),
    "resume": (
        mark("Resume all that are paused"),
        lambda n, shown: say_many(
            n,
            "Resume the one that is paused",
            "Resume all %(n)s that are paused",
            n=shown,
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A verb on all that match, with its number."""

    verb: str
    label: str
    icon: str


def offers(
    session: Session, form: EngagementFilter, page: Page[Listed], now: datetime
) -> list[Offer]:
    """Return what can be done to all that match, of which one is a page; one statement.

    What would change nothing is left out.
    """
    if not page.rows:
        return []
    # What is on one page is counted exactly, however old it is.
    ids = [one.row.id for one in page.rows]
    bounds = [Engagement.id.in_(ids)] if page.is_whole else []
    matching = form.asked(now)
    asked = [Asked(kind, matching, now) for kind in KINDS.values()]
    found = amounts(session, asked, NEWEST_FIRST, bounds)
    return [
        Offer(verb, _label(verb, n), WORDS[kind].icon)
        for (verb, kind), n in zip(KINDS.items(), found, strict=True)
        if n or isinstance(n, AtLeast)
    ]


def _label(verb: str, n: int) -> str:
    every, counted = _SAYINGS[verb]
    # Among the rows that were looked at there may be none.
    return counted(as_many(n), number(n, COUNT_CAP)) if n else say(every)
