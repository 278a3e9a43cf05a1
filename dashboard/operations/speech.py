"""What a kind of operation has to say, and sentences that several share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.filters import number
from tasks.lane import COUNT_CAP
from tasks.saying import mark, say_many

#: Says something of so many rows.
Told = Callable[[int], str]
#: The same with the number as it is shown, which may be drawn.
Drawn = Callable[[int, str], str]


@dataclass(frozen=True, slots=True)
class Noun:
    """What an operation's rows are called, and what is said of them on its page."""

    looked: Callable[[int, str, str], str]  # of so many; how many are done, of how many
    skipped: Drawn


@dataclass(frozen=True, slots=True)
class Words:
    """How one kind of operation speaks; what is no function is marked."""

    icon: str
    tone: Literal["primary", "danger"]
    noun: Noun
    deed: Told  # what the button says
    happens: Told  # to so many rows
    unfit: Told  # what becomes of so many ticked rows
    stays: tuple[str, ...]  # what does not happen
    later: str  # what is left alone since nobody saw it
    done: Told
    missed: Told  # of those that were not changed
    nothing: tuple[str, str]
    changed: Drawn  # what a changed row was, on the operation's page
    title: str  # of a whole operation


def capped(n: int) -> str:
    """Return a number of rows, which is counted to the cap: ``10 000+``."""
    return number(n, COUNT_CAP)


EXECUTIONS: Final = Noun(
    lambda n, done, total: say_many(
        n,
        "%(done)s of %(total)s execution looked at",
        "%(done)s of %(total)s executions looked at",
        done=done,
        total=total,
    ),
    lambda n, shown: say_many(n, "%(shown)s skipped", "%(shown)s skipped", shown=shown),
)
JOBS: Final = Noun(
    lambda n, done, total: say_many(
        n,
        "%(done)s of %(total)s scheduled job looked at",
        "%(done)s of %(total)s scheduled jobs looked at",
        done=done,
        total=total,
    ),
    EXECUTIONS.skipped,
)
EVENTS: Final = Noun(
    lambda n, done, total: say_many(
        n,
        "%(done)s of %(total)s event looked at",
        "%(done)s of %(total)s events looked at",
        done=done,
        total=total,
    ),
    lambda n, shown: say_many(
        n, "%(events)s skipped", "%(events)s skipped", events=shown
    ),
)
#: What is true of whatever may be sent by it.
GUARDED: Final = mark(
    "Each is checked again first: where the rule is switched off or the booking is "
    "cancelled, nothing is sent."
)
