"""How far back a chart looks, and in which steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tasks.models import Span

_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Equal steps up to now; the last one is not over yet."""

    name: str  # in the address
    title: str
    span: Span  # of the counts it is made of
    step: timedelta
    n_steps: int

    def starts(self, now: datetime) -> list[datetime]:
        """Return when each step begins, the oldest first."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        last = midnight + (now - midnight) // self.step * self.step
        return [last - n * self.step for n in reversed(range(self.n_steps))]


PERIODS: Final[Mapping[str, Period]] = {
    each.name: each
    for each in (
        Period("24h", "24 hours", Span.HOUR, _HOUR, 24),
        Period("7d", "7 days", Span.HOUR, 6 * _HOUR, 28),
        Period("30d", "30 days", Span.DAY, 24 * _HOUR, 30),
    )
}


def period_of(name: str | None) -> Period:
    """Return the period that an address asks for; others are the first one."""
    return PERIODS.get(name or "", PERIODS["24h"])
