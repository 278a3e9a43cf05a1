"""How far back a chart looks, and in which steps: by the clock of who looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

from tasks.models import Span
from tasks.saying import mark

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Steps up to now, equal by the clock; the last one is not over yet."""

    name: str  # in the address
    title: str  # marked
    step: timedelta
    n_steps: int

    def starts(self, now: datetime, zone: tzinfo = UTC) -> list[datetime]:
        """Return when each step begins, the oldest first.

        Work is counted by full hours of UTC.  Where a zone's clock is off the full
        hour, a step begins with the full hour of UTC before.
        """
        if self.step <= HOUR:
            last = full_hour(now)
            return [last - n * self.step for n in reversed(range(self.n_steps))]
        backwards = self._clock(now, zone)
        return [next(backwards) for _ in range(self.n_steps)][::-1]

    def span_of(self, starts: Sequence[datetime]) -> Span:
        """Return the counts that the steps can be made of."""
        are_days = self.step == DAY and all(at.hour == 0 for at in starts)
        return Span.DAY if are_days else Span.HOUR

    def _clock(self, now: datetime, zone: tzinfo) -> Iterator[datetime]:
        """Yield the starts of steps of a day's parts up to now, the newest first."""
        on = now.astimezone(zone).date()
        hours = range(0, 24, self.step // HOUR)
        while True:
            for hour in reversed(hours):
                at = datetime.combine(on, time(hour), zone).astimezone(UTC)
                if at <= now:
                    yield full_hour(at)
            on -= DAY


def full_hour(at: datetime) -> datetime:
    """Return the full hour of UTC that an instant is in."""
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


PERIODS: Final[Mapping[str, Period]] = {
    each.name: each
    for each in (
        Period("24h", mark("24 hours"), HOUR, 24),
        Period("7d", mark("7 days"), 6 * HOUR, 28),
        Period("30d", mark("30 days"), DAY, 30),
    )
}


def period_of(name: str | None) -> Period:
    """Return the period that an address asks for; others are the first one."""
    return PERIODS.get(name or "", PERIODS["24h"])
