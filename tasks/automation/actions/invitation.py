"""What a calendar file tells of the booking that a mail is about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from tasks.automation.actions.base import CannotCompose
from tasks.automation.triggers import TRIGGERS
from tasks.models.reason import Reason
from tasks.saying import say

#: Bookings in these states have a place in calendars, or had one.
_STATES: Final = frozenset({"requested", "confirmed", "cancelled"})
_WORDS: Final = {"en": "Recording", "fr": "Enregistrement"}


def can_invite(trigger_type: str) -> bool:
    """Return whether mails of the trigger can carry a booking's calendar file."""
    trigger = TRIGGERS.get(trigger_type)
    return trigger is not None and trigger.subject == "booking"


def invitation(context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the facts of the booking's calendar file; ``None``: it has none.

    A booking that was declined was never in a calendar.

    Raises:
        CannotCompose: a producer told dates that are none.
    """
    booking = _section(context, "booking")
    if str(booking.get("status")) not in _STATES:
        return None
    start, end = booking.get("start_time"), booking.get("end_time")
    for name, instant in (("start_time", start), ("end_time", end)):
        if instant is not None or name == "start_time":
            _check(name, instant)
    podcast = _section(context, "podcast")
    return {
        "id": str(booking.get("id")),
        "revision": _number(booking.get("revision")),
        "status": booking["status"],
        "start": start,
        "end": end,
        "summary": _summary(context, podcast),
        "location": booking.get("meeting_url") or "",
        "host": podcast.get("title") or "",
        "guest": booking.get("guest_name") or "",
    }


def _summary(context: Mapping[str, Any], podcast: Mapping[str, Any]) -> str:
    locale = str(_section(context, "congregation").get("locale"))
    link = _section(context, "booking_link").get("name")
    what = link or _WORDS.get(locale, _WORDS["en"])
    return f"{podcast.get('title')}: {what}" if podcast.get("title") else str(what)


def _check(name: str, instant: object) -> None:
    try:
        if datetime.fromisoformat(str(instant)).tzinfo is not None:
            return
    except ValueError:
        pass
    raise CannotCompose(
        Reason.BAD_MESSAGE,
        say(
            "The calendar file needs %(field)s as an instant with its offset.",
            field=f"booking.{name}",
        ),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0


def _section(context: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = context.get(name)
    return section if isinstance(section, Mapping) else {}
