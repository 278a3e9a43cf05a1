"""What happened in the demo's past: steps, each at its instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from dashboard.demo import deeds
from dashboard.demo.parish import TIMEZONE
from dashboard.demo.people import GUESTS, SHOWS, TITLES
from tasks.automation import bookings, episodes
from tasks.automation.events import emit_guest_event

#: How far back the past reaches, and how far ahead bookings are made.
PAST: Final = timedelta(days=18)
COMING_DAYS: Final = 12
_HOURS: Final = (time(9, 30), time(14), time(16, 15), time(19))
#: Which bookings do not go as planned, by their number.
_DECLINED: Final = 5
_CALLED_OFF: Final = frozenset({8, 19})
_MOVED: Final = frozenset({3, 11, 16, 21})
_UNANSWERED: Final = frozenset({23, 25})  # requested, waiting for the host
#: Around the start of this booking no worker ran, so its reminders were missed.
_UNATTENDED: Final = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that somebody did."""

    at: datetime
    tell: Callable[[Session, datetime], object]
    crashes: bool = False  # what comes of it takes its worker down


@dataclass(frozen=True, slots=True)
class Story:
    """The steps of one congregation, up to ``now``."""

    parish: UUID
    now: datetime

    def steps(self) -> list[Step]:
        """Return what happened before ``now``, oldest first."""
        told = [*self._operators()]
        for number in range(26):
            told += self._booking(number)
        past = [step for step in told if step.at < self.now]
        return sorted(past, key=lambda step: step.at)

    def outage(self) -> tuple[datetime, datetime]:
        """Return from when until when no worker ran."""
        start = self._start(_UNATTENDED)
        return start - timedelta(hours=25), start + timedelta(hours=2)

    def _start(self, number: int) -> datetime:
        """Return when a booking begins: one a day, from ten days ago on."""
        zone = ZoneInfo(TIMEZONE)
        day = self.now.astimezone(zone).date() + timedelta(days=number - 25)
        day += timedelta(days=COMING_DAYS)
        return datetime.combine(day, _HOURS[number % len(_HOURS)], zone)

    def _booking(self, number: int) -> Iterator[Step]:
        of, booking = self.parish, f"b-{1001 + number}"
        start = self._start(number)
        asked = min(
            start - timedelta(days=4, hours=number % 7), self.now - _ago(number)
        )
        yield Step(asked, lambda s, at: self._ask(s, number, start, at))
        if number in _UNANSWERED:
            return
        settled = asked + timedelta(hours=2 + number % 5, minutes=7 * number % 60)
        if number == _DECLINED:
            yield Step(settled, lambda s, at: bookings.decline(s, of, booking, now=at))
            return
        yield Step(settled, lambda s, at: bookings.confirm(s, of, booking, now=at))
        if number in _MOVED:
            later = start + timedelta(hours=3)
            yield Step(
                settled + timedelta(hours=5),
                lambda s, at: bookings.reschedule(s, of, booking, later, now=at),
            )
        if number in _CALLED_OFF:
            yield Step(
                settled + timedelta(hours=9),
                lambda s, at: bookings.cancel(s, of, booking, now=at),
            )
            return
        yield from self._episode(number, start)

    def _ask(
        self, session: Session, number: int, start: datetime, at: datetime
    ) -> None:
        show, guest = SHOWS[number % 2], GUESTS[number % len(GUESTS)]
        episode = f"e-{201 + number}"
        episodes.save_episode(
            session,
            self.parish,
            episode,
            podcast_id=show.id,
            title=TITLES[number % len(TITLES)],
            episode_number=41 + number // 2,
            now=at,
        )
        bookings.save_booking(
            session,
            self.parish,
            f"b-{1001 + number}",
            podcast_id=show.id,
            booking_link_id=show.links[0][0],
            episode_id=episode,
            guest_id=guest.id,
            guest_name=guest.name,
            guest_email=guest.email,
            guest_phone=guest.phone,
            start_time=start,
            end_time=start + timedelta(minutes=45),
            timezone=TIMEZONE,
            now=at,
        )

    def _episode(self, number: int, start: datetime) -> Iterator[Step]:
        of, episode = self.parish, f"e-{201 + number}"
        cut, out = start + timedelta(days=1, hours=2), start + timedelta(days=4)
        yield Step(cut, lambda s, at: episodes.schedule(s, of, episode, out, now=at))
        yield Step(out, lambda s, at: episodes.publish(s, of, episode, now=at))
        guest, show = GUESTS[number % len(GUESTS)], SHOWS[number % 2]
        if number % 3 == 0:
            yield Step(
                start - timedelta(days=1, hours=20),
                lambda s, at: emit_guest_event(
                    s,
                    "guest.responded",
                    guest.id,
                    episode,
                    show.id,
                    congregation_id=of,
                    now=at,
                ),
            )

    def _answer(self, session: Session, at: datetime) -> None:
        guest, show = GUESTS[9], SHOWS[1]
        emit_guest_event(
            session,
            "guest.responded",
            guest.id,
            None,
            show.id,
            congregation_id=self.parish,
            now=at,
        )

    def _move_the_organ(self, session: Session, at: datetime) -> None:
        later = self._start(22) + timedelta(hours=1)
        bookings.reschedule(session, self.parish, "b-1023", later, now=at)

    def _operators(self) -> Iterator[Step]:
        now = self.now
        yield Step(now - timedelta(days=6, hours=3), deeds.switch_off_feedback)
        yield Step(now - timedelta(days=4, hours=4), self._answer, crashes=True)
        yield Step(now - timedelta(days=3, hours=5), deeds.retry_the_oldest_failure)
        yield Step(now - timedelta(days=2, hours=2), deeds.cancel_the_last_job)
        yield Step(now - timedelta(days=1, hours=9), deeds.replay_confirmations)
        yield Step(now - timedelta(days=1, hours=7), deeds.pause_for_the_mail_server)
        yield Step(now - timedelta(days=1, hours=6), deeds.resume_after_it)
        # The old calendar is told about it, and is not there any more.
        yield Step(now - timedelta(hours=5, minutes=12), self._move_the_organ)


def _ago(number: int) -> timedelta:
    """Return how long ago a booking was made whose start is far ahead."""
    return timedelta(hours=9 * (27 - number) + number % 5, minutes=11 * number % 60)
