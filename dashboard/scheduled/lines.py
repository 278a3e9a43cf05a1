"""One scheduled job as a list shows it: with the names that its ids stand for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, select

from dashboard.filtering import LATE_AFTER
from tasks.models import (
    Booking,
    Congregation,
    Episode,
    EpisodeGuest,
    JobState,
    Podcast,
    Rule,
    ScheduledJob,
)
from tasks.operations.allowed import NOT_PENDING
from tasks.operations.matching import of_same
from tasks.saying import say

#: What is due within this span is watched closely.
SOON: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Line:
    """A scheduled job, and the names of what it is about; None: not known here."""

    job: ScheduledJob
    rule: str | None
    action: str | None
    guest: str | None
    invited: str | None  # the episode's guest, where no booking names one
    episode: str | None
    podcast: str | None
    congregation: str | None
    slug: str  # of the congregation

    @property
    def subject(self) -> str:
        """Whom or what it is about, in the best words that there are."""
        row = self.job
        names = (self.guest, self.invited, self.episode, row.booking_id, row.episode_id)
        return next((name for name in names if name), self.podcast or "")

    @property
    def is_live(self) -> bool:
        """Whether it still waits."""
        return self.job.state is JobState.PENDING

    @property
    def version(self) -> str:
        """What changes whenever the row looks different."""
        row = self.job
        return f"{row.id}.{row.state}.{int(row.run_at.timestamp())}"

    @property
    def why_not(self) -> str | None:
        """Why it can be neither cancelled nor run now; None: it can."""
        why = NOT_PENDING.get(self.job.state)
        return say(why) if why else None

    def is_soon(self, now: datetime) -> bool:
        """Whether its time comes within the next moments."""
        return self.is_live and self.job.run_at <= now + SOON

    def late_by(self, now: datetime) -> timedelta | None:
        """Return how long it waits past its time; None: it is in time, or has ended."""
        late = now - self.job.run_at
        return late if self.is_live and late > LATE_AFTER else None


def lines() -> Select[*tuple[Any, ...]]:
    """Select jobs with their names, in the order of ``Line``'s fields.

    Every join is an outer one: a planner then has to begin with the jobs, in the order
    of the page, and stops when the page is full.
    """
    job = ScheduledJob
    return (
        select(
            job,
            Rule.name,
            Rule.action,
            Booking.guest_name,
            EpisodeGuest.name,
            Episode.title,
            Podcast.title,
            Congregation.name,
            Congregation.slug,
        )
        .outerjoin(Rule, Rule.id == job.rule_id)
        .outerjoin(Booking, of_same(Booking, job, job.booking_id))
        .outerjoin(EpisodeGuest, of_same(EpisodeGuest, job, job.guest_id))
        .outerjoin(Episode, of_same(Episode, job, job.episode_id))
        .outerjoin(Podcast, of_same(Podcast, job, job.podcast_id))
        .outerjoin(Congregation, Congregation.id == job.congregation_id)
    )
