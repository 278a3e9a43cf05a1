"""Quiet hours: when a rule keeps silent, in the local time of whom it speaks to.

A guest's clock is that of the booking, else of the episode, the podcast, the
congregation; everybody else's is that of the podcast, else of the congregation.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from tasks.automation.records import About, Records
from tasks.automation.triggers import TRIGGERS
from tasks.automation.zones import first_zone, instant_of
from tasks.models.booking import Booking
from tasks.models.congregation import Congregation
from tasks.models.episode import Episode
from tasks.models.podcast import Podcast
from tasks.models.rule import QuietPolicy, Rule

#: Where a day is skipped, quiet hours may end within the next ones; never twice.
_ROUNDS: Final = 3


class Clocks(NamedTuple):
    """The timezones of those whom a rule may speak to, as IANA names."""

    guest: str
    host: str

    def of(self, settings: Mapping[str, Any]) -> str:
        """Return the timezone of whom an action with ``settings`` speaks to."""
        return self.guest if settings.get("recipient") == "guest" else self.host


def clocks_of(row: About, records: Records, told: str | None = None) -> Clocks:
    """Return the timezones that count for what a row is about.

    Args:
        told: what a producer said for the guest; it counts before the podcast's.
    """
    of: UUID = row.congregation_id
    booking: Booking | None = records.bookings.get((of, row.booking_id or ""))
    episode_id = row.episode_id or (booking.episode_id if booking else None)
    episode: Episode | None = records.episodes.get((of, episode_id or ""))
    podcast: Podcast | None = records.podcasts.get((of, row.podcast_id or ""))
    congregation: Congregation | None = records.congregations.get(of)
    house = (
        podcast.timezone if podcast else None,
        congregation.timezone if congregation else None,
    )
    own = (
        booking.timezone if booking else None,
        episode.timezone if episode else None,
    )
    return Clocks(guest=first_zone(*own, told, *house), host=first_zone(*house))


class Quiet(Protocol):
    """Something with quiet hours: a rule, an engagement."""

    @property
    def quiet_from(self) -> str | None:
        """When they begin, as in 22:00; None: there are none."""

    @property
    def quiet_until(self) -> str | None:
        """When they end."""


def quiet_end(rule: Quiet, instant: datetime, timezone: str) -> datetime | None:
    """Return when the quiet hours end that ``instant`` lies in; ``None``: in none.

    Read off the wall clock: an hour that exists twice is quiet twice, and an end that
    does not exist is the first instant after the jump.
    """
    if rule.quiet_from is None or rule.quiet_until is None:
        return None
    begin, end = (
        time.fromisoformat(rule.quiet_from),
        time.fromisoformat(rule.quiet_until),
    )
    zone = ZoneInfo(first_zone(timezone))
    found: datetime | None = None
    for _ in range(_ROUNDS):
        until = _end_of(found or instant, begin, end, zone)
        if until is None:
            break
        found = until
    return found


def _end_of(
    instant: datetime, begin: time, end: time, zone: ZoneInfo
) -> datetime | None:
    wall = instant.astimezone(zone).replace(tzinfo=None)
    of_day = wall.time()
    is_over_midnight = begin > end
    is_quiet = (
        of_day >= begin or of_day < end if is_over_midnight else begin <= of_day < end
    )
    if not is_quiet:
        return None
    days = timedelta(days=1 if of_day >= end else 0)
    last = datetime.combine(wall.date() + days, end)
    until = instant_of(last, zone)
    # The wall shows the end twice, and the first time of both is behind us.
    return (
        until if until > instant else last.replace(tzinfo=zone, fold=1).astimezone(UTC)
    )


def opening(
    rule: Rule, due_at: datetime, clocks: Clocks, reference_at: datetime | None = None
) -> datetime:
    """Return when a rule's own action that is due may go out.

    That is ``due_at`` itself where waiting is of no use: the rule skips what falls
    into its quiet hours, or they end when what a before-rule announces has begun.
    """
    if rule.quiet_from is None or rule.quiet_policy == QuietPolicy.SKIP:
        return due_at
    end = quiet_end(rule, due_at, clocks.of(rule.settings))
    if end is None or is_begun(rule, reference_at, end):
        return due_at
    return end


def is_begun(rule: Rule, reference_at: datetime | None, at: datetime) -> bool:
    """Return whether what a before-rule announces has begun by then."""
    trigger = TRIGGERS.get(rule.trigger_type)
    is_before = trigger is not None and trigger.direction < 0
    return is_before and reference_at is not None and at >= reference_at
