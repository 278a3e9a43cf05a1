"""What a rule may say about time beside its offset: hour, lateness, quiet hours."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final, Protocol

from tasks.automation.triggers import Trigger
from tasks.models import LatePolicy, OffsetUnit, QuietPolicy
from tasks.saying import say

#: A change to one of these moves the jobs that the rule has planned already.
TIMED_BY: Final = (
    "offset_value",
    "offset_unit",
    "offset_at",
    "quiet_from",
    "quiet_until",
    "quiet_policy",
)
#: The least that a limit of lateness allows: a worker that restarts needs so long.
LATE_LIMIT_MIN: Final = timedelta(minutes=5)
#: The most that a limit of lateness allows.
LATE_LIMIT_MAX: Final = timedelta(days=30)
_HOUR: Final = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")


class SaysTimes(Protocol):
    """What is said about a rule's times."""

    @property
    def offset_unit(self) -> OffsetUnit:
        """The offset's unit."""

    @property
    def offset_at(self) -> str | None:
        """The local time of day of calendar days; None: the date's own."""

    @property
    def late_policy(self) -> LatePolicy:
        """What a before-rule does that learns of a date too late."""

    @property
    def late_limit(self) -> int | None:
        """Minutes it may be late; None: while it helps, 0: not at all."""

    @property
    def quiet_from(self) -> str | None:
        """The local time of day at which quiet hours begin; None: there are none."""

    @property
    def quiet_until(self) -> str | None:
        """The local time of day at which quiet hours end."""

    @property
    def quiet_policy(self) -> QuietPolicy:
        """What becomes of what falls into them."""


def clean_times(said: SaysTimes, trigger: Trigger) -> dict[str, Any]:
    """Return the columns of checked times; what does not count has its default."""
    in_days = trigger.is_time and said.offset_unit == OffsetUnit.DAYS
    is_quiet = said.quiet_from is not None
    return {
        "offset_at": said.offset_at if in_days else None,
        "late_policy": said.late_policy if trigger.direction < 0 else LatePolicy.SKIP,
        "late_limit": said.late_limit if trigger.is_time else None,
        "quiet_from": said.quiet_from,
        "quiet_until": said.quiet_until if is_quiet else None,
        "quiet_policy": said.quiet_policy if is_quiet else QuietPolicy.WAIT,
    }


def problems_of_times(said: SaysTimes, trigger: Trigger) -> dict[str, str]:
    """Return what is wrong: field -> sentence; empty means good."""
    found = {
        "offset_at": _wrong_hour_of_offset(said, trigger),
        "late_limit": _wrong_limit(said.late_limit) if trigger.is_time else None,
        **_wrong_quiet(said.quiet_from, said.quiet_until),
    }
    return {name: sentence for name, sentence in found.items() if sentence}


def _wrong_hour_of_offset(said: SaysTimes, trigger: Trigger) -> str | None:
    in_days = trigger.is_time and said.offset_unit == OffsetUnit.DAYS
    return _wrong_hour(said.offset_at) if in_days else None


def _wrong_hour(text: str | None) -> str | None:
    if text is None or _HOUR.fullmatch(text):
        return None
    return say("Give a time of day from 00:00 to 23:59, such as 08:30.")


def _wrong_limit(minutes: int | None) -> str | None:
    least = LATE_LIMIT_MIN // timedelta(minutes=1)
    most = LATE_LIMIT_MAX // timedelta(minutes=1)
    if minutes is None or minutes == 0 or least <= minutes <= most:
        return None
    return say(
        "Choose %(least)s to %(most)s minutes; %(most)s are thirty days.",
        least=least,
        most=str(most),
    )


def _wrong_quiet(begin: str | None, end: str | None) -> dict[str, str | None]:
    wrong = {"quiet_from": _wrong_hour(begin), "quiet_until": _wrong_hour(end)}
    if begin is None and end is not None:
        wrong["quiet_from"] = say("Say when the quiet hours begin as well.")
    elif end is None and begin is not None:
        wrong["quiet_until"] = say("Say when the quiet hours end as well.")
    elif begin == end and begin is not None and not any(wrong.values()):
        wrong["quiet_until"] = say("Quiet hours that end when they begin never end.")
    return wrong
