"""One execution as a list shows it: with the names that its ids stand for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, select

from dashboard.filtering import LATE_AFTER
from tasks.automation.steps import FIRST
from tasks.models import (
    Booking,
    Congregation,
    Episode,
    EpisodeGuest,
    Execution,
    ExecutionState,
    Podcast,
    Rule,
)
from tasks.operations.allowed import NOT_CANCELLABLE, NOT_RETRYABLE
from tasks.operations.matching import of_same
from tasks.saying import mark, say

_S = ExecutionState

#: States in which something happens by itself.
LIVE: Final = (_S.PENDING, _S.RUNNING)
#: What rules do, as lists say it: the codes of ``tasks.automation.actions``.
ACTION_WORDS: Final = (
    mark("email"),
    mark("webhook"),
    mark("notify"),
    mark("start_lane"),
)
#: What is due within this span is watched closely.
SOON: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Line:
    """An execution, and the names of what it is about; None: not known here."""

    execution: Execution
    rule: str | None
    guest: str | None
    invited: str | None  # the episode's guest, where no booking names one
    episode: str | None
    podcast: str | None
    congregation: str | None
    slug: str  # of the congregation
    started_at: datetime | None  # of the latest attempt
    steps: list[dict[str, Any]] | None  # later ones of the rule; None: it is not seen

    @property
    def subject(self) -> str:
        """Whom or what it is about, in the best words that there are."""
        row = self.execution
        names = (self.guest, self.invited, self.episode, row.booking_id, row.episode_id)
        return next((name for name in names if name), self.podcast or "")

    @property
    def step(self) -> str | None:
        """Which step of its rule it is; None where the rule has only one."""
        number = self.execution.step
        if not number and not self.steps:
            return None
        numbers = [FIRST, *(each["number"] for each in self.steps or ())]
        if number not in numbers:
            return say("a step that was taken out")
        place = numbers.index(number) + 1
        return say("step %(n)s of %(all)s", n=place, all=len(numbers))

    @property
    def is_live(self) -> bool:
        """Whether something is still going to happen by itself."""
        return self.execution.state in LIVE

    @property
    def is_running(self) -> bool:
        """Whether a worker is at it."""
        return self.execution.state is _S.RUNNING

    @property
    def tries(self) -> int:
        """How many of its attempts are used up; a retry by hand gives all of them."""
        row = self.execution
        return row.failures + (row.state in (_S.RUNNING, _S.SUCCEEDED))

    @property
    def version(self) -> str:
        """What changes whenever the row looks different."""
        row = self.execution
        return f"{row.id}.{row.state}.{row.attempt}.{row.failures}"

    @property
    def why_no_retry(self) -> str | None:
        """Why it cannot be retried; None: it can."""
        return _said(NOT_RETRYABLE.get(self.execution.state))

    @property
    def why_no_cancel(self) -> str | None:
        """Why it cannot be cancelled; None: it can."""
        return _said(NOT_CANCELLABLE.get(self.execution.state))

    def is_soon(self, now: datetime) -> bool:
        """Whether it changes within the next moments."""
        row = self.execution
        return self.is_live and row.run_at <= now + SOON

    def late_by(self, now: datetime) -> timedelta | None:
        """Return how long after its promised time it was done, or still is not.

        None for what was in time, and for what ended without being done.
        """
        row = self.execution
        if row.state is _S.SUCCEEDED:
            at = row.settled_at or now
        elif self.is_live:
            at = now
        else:
            return None
        late = at - row.due_at
        return late if late > LATE_AFTER else None


def _said(text: str | None) -> str | None:
    return text and say(text)


def lines() -> Select[*tuple[Any, ...]]:
    """Select executions with their names, in the order of ``Line``'s fields.

    Every join is an outer one: a planner then has to begin with the executions, in the
    order of the page, and stops when the page is full.
    """
    return (
        select(
            Execution,
            Rule.name,
            Booking.guest_name,
            EpisodeGuest.name,
            Episode.title,
            Podcast.title,
            Congregation.name,
            Congregation.slug,
            Execution.claimed_at,
            Rule.steps,
        )
        .outerjoin(Rule, Rule.id == Execution.rule_id)
        .outerjoin(Booking, of_same(Booking, Execution, Execution.booking_id))
        .outerjoin(EpisodeGuest, of_same(EpisodeGuest, Execution, Execution.guest_id))
        .outerjoin(Episode, of_same(Episode, Execution, Execution.episode_id))
        .outerjoin(Podcast, of_same(Podcast, Execution, Execution.podcast_id))
        .outerjoin(Congregation, Congregation.id == Execution.congregation_id)
    )
