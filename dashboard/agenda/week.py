"""Seven days as a grid of hours, with how much is planned for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from tasks.errors import InvalidInput

DAYS: Final = 7
HOUR: Final = timedelta(hours=1)
#: How dark an hour may be: 0 is nothing, the last is as full as the fullest.
LEVELS: Final = 5
#: Weeks that can be asked for: others are slips of the keyboard.
_YEARS: Final = range(1970, 3000)


@dataclass(frozen=True, slots=True)
class Slot:
    """One hour."""

    at: datetime
    n: int
    level: int  # 0 to LEVELS - 1
    is_past: bool
    is_counted: bool  # else there was too much before it to count as far as here

    @property
    def until(self) -> datetime:
        """The end, not included."""
        return self.at + HOUR


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
    """Seven days from some day on."""

    first: date

    @classmethod
    def asked(cls, text: str | None, today: date) -> Week:
        """Return the week that an address asks for; without one, from today on.

        Raises:
            InvalidInput: ``bad_week``.
        """
        if not text:
            return cls(today)
        try:
            first = date.fromisoformat(text)
        except ValueError as error:
            raise _bad() from error
        if first.year not in _YEARS:
            raise _bad()
        return cls(first)

    @property
    def start(self) -> datetime:
        """The first instant."""
        return datetime.combine(self.first, time(), UTC)

    @property
    def end(self) -> datetime:
        """The first instant after it."""
        return self.start + timedelta(days=DAYS)

    def moved(self, days: int) -> str:
        """Return the first day of another week, for an address."""
        return (self.first + timedelta(days=days)).isoformat()

    def days(
        self, volume: Mapping[datetime, int], counted_until: datetime, now: datetime
    ) -> Sequence[Day]:
        """Return the grid.

        Args:
            volume: how much is planned by the start of its hour.
            counted_until: what lies after it was not counted.
        """
        most = max(volume.values(), default=0)
        hours = [self.start + n * HOUR for n in range(DAYS * 24)]
        slots = [
            Slot(
                at,
                n := volume.get(at, 0),
                -(-n * (LEVELS - 1) // most) if n else 0,
                is_past=at + HOUR <= now,
                is_counted=at < counted_until,
            )
            for at in hours
        ]
        return [
            Day(self.first + timedelta(days=n), slots[n * 24 : n * 24 + 24])
            for n in range(DAYS)
        ]


def _bad() -> InvalidInput:
    return InvalidInput(
        "bad_week",
        "The week in this address must begin with a day such as 2026-03-10.",
        field="week",
    )
