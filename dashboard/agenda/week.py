"""Seven days as a grid of hours, with how much is planned for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from tasks.errors import InvalidInput
from tasks.saying import say

DAYS: Final = 7
HOUR: Final = timedelta(hours=1)
#: How dark an hour may be: 0 is nothing, the last is as full as the fullest.
LEVELS: Final = 5
#: Weeks that can be asked for: others are slips of the keyboard.
YEARS: Final = range(1970, 3000)


@dataclass(frozen=True, slots=True)
class Slot:
    """One hour by the clock: two where it is set back, none where it is set forward."""

    at: datetime
    until: datetime  # not included
    n: int
    level: int  # 0 to LEVELS - 1
    is_past: bool
    is_counted: bool  # else there was too much before it to count as far as here


@dataclass(frozen=True, slots=True)
class Day:
    """One day of the grid."""

    on: date
    slots: Sequence[Slot]

    @property
    def n(self) -> int:
        """How much is planned for it."""
        return sum(slot.n for slot in self.slots)

    @property
    def is_counted(self) -> bool:
        """Whether all of it was counted."""
        return all(slot.is_counted for slot in self.slots)


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days from some day on, as the clock of a zone shows them."""

    first: date
    zone: tzinfo = UTC
    is_off_hour: bool = False  # the clock asked for is, so this is UTC instead

    @classmethod
    def asked(cls, text: str | None, now: datetime, zone: tzinfo) -> Week:
        """Return the week that an address asks for; without one, from today on.

        Work is counted by full hours of UTC: the few zones that are half an hour apart
        see the week in UTC.

        Raises:
            InvalidInput: ``bad_week``.
        """
        first = _day(text) if text else now.astimezone(zone).date()
        week = cls(first, zone)
        # Not only now: some zones are off the full hour in a part of the year.
        if not any(at.minute or at.second for at in (week.start, week.end)):
            return week
        return cls(first if text else now.astimezone(UTC).date(), UTC, is_off_hour=True)

    @property
    def start(self) -> datetime:
        """The first instant."""
        return self._at(0, 0)

    @property
    def end(self) -> datetime:
        """The first instant after it."""
        return self._at(DAYS, 0)

    def is_over(self, now: datetime) -> bool:
        """Whether nothing of it is to come."""
        return self.end <= now

    def day_of(self, instant: datetime) -> date:
        """Return the day that an instant lies in."""
        return instant.astimezone(self.zone).date()

    def moved(self, days: int) -> str | None:
        """Return the first day of another week, for an address.

        None: nobody can ask for it.
        """
        first = self.first + timedelta(days=days)
        return first.isoformat() if first.year in YEARS else None

    def days(
        self, volume: Mapping[datetime, int], counted_until: datetime, now: datetime
    ) -> Sequence[Day]:
        """Return the grid.

        Args:
            volume: how much is planned by the start of its hour.
            counted_until: what lies after it was not counted.
        """
        # By the clock: when it is set back, two hours are one.
        n_of: Counter[tuple[date, int]] = Counter()
        for at, n in volume.items():
            local = at.astimezone(self.zone)
            n_of[local.date(), local.hour] += n
        most = max(n_of.values(), default=0)
        days = []
        for number in range(DAYS):
            on = self.first + timedelta(days=number)
            slots = [
                Slot(
                    at := self._at(number, hour),
                    until := self._at(number, hour + 1),
                    n := n_of[on, hour],
                    -(-n * (LEVELS - 1) // most) if n else 0,
                    is_past=until <= now,
                    is_counted=at < counted_until,
                )
                for hour in range(24)
            ]
            days.append(Day(on, slots))
        return days

    def _at(self, day: int, hour: int) -> datetime:
        on = self.first + timedelta(days=day + hour // 24)
        return datetime.combine(on, time(hour % 24), self.zone).astimezone(UTC)


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise _bad() from error
    if day.year not in YEARS:
        raise _bad()
    return day


def _bad() -> InvalidInput:
    return InvalidInput(
        "bad_week",
        say(
            "The week in this address must begin with a day such as 2026-03-10, from "
            "%(first)s to %(last)s.",
            first=str(YEARS.start),
            last=str(YEARS.stop - 1),
        ),
        field="week",
    )
