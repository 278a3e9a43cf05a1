"""A booking as a calendar file (RFC 5545): invited, moved, called off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.headerregistry import Address
from string import printable
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID, uuid5

from icalendar import Calendar, Event, vCalAddress, vText

#: A booking that does not say when it ends is written as this long.
USUAL_LENGTH: Final = timedelta(hours=1)
_TEXT_MAX: Final = 500  # characters of a name or place
_PRODUCT: Final = "-//Carillon//Bookings//EN"
_URL_STARTS: Final = ("https://", "http://")
#: State of a booking -> STATUS of the event; what is off is sent as a cancellation.
_STATUS: Final = {
    "requested": "TENTATIVE",
    "confirmed": "CONFIRMED",
    "cancelled": "CANCELLED",
}


@dataclass(frozen=True, slots=True)
class CalendarFile:
    """A calendar file and the method under which a mail carries it."""

    method: str  # "REQUEST" or "CANCEL"
    content: str  # lines end with CR LF


def calendar_file(
    facts: Mapping[str, Any],
    congregation_id: UUID,
    *,
    organizer: Address,
    attendee: str,
    at: datetime,
) -> CalendarFile:
    """Return the calendar file of a booking for one recipient.

    The UID is the same for all mails of a booking and SEQUENCE rises with each change
    of its time or state, so that calendars move or remove what they have.  Instants
    are in UTC, which every calendar shows in its own time.

    Args:
        facts: Of the message: ``id``, ``revision``, ``start``, ``end`` (may be null),
            ``status``, ``summary``, ``location``, ``host`` and ``guest``.
        organizer: Where the mail comes from, as calendars want it.
        attendee: The recipient's address.
        at: When the file is made.

    Raises:
        ValueError: an instant cannot be read.
    """
    status = _STATUS.get(str(facts["status"]), "CONFIRMED")
    method = "CANCEL" if status == "CANCELLED" else "REQUEST"
    event = _event(facts, congregation_id, at)
    event.add("status", status)
    event.add("organizer", _person(organizer.addr_spec, _line(facts.get("host"))))
    invited = _person(attendee, _line(facts.get("guest")))
    invited.params["ROLE"] = vText("REQ-PARTICIPANT")
    # Who has booked need not answer an invitation to what they booked.
    invited.params["PARTSTAT"] = vText("ACCEPTED")
    invited.params["RSVP"] = vText("FALSE")
    event.add("attendee", invited)
    calendar = Calendar()
    calendar.add("prodid", _PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", method)
    calendar.add_component(event)
    return CalendarFile(method, calendar.to_ical().decode())


def _event(facts: Mapping[str, Any], congregation_id: UUID, at: datetime) -> Event:
    start = _instant(facts["start"])
    end = _instant(facts["end"]) if facts.get("end") else start + USUAL_LENGTH
    event = Event()
    event.add("uid", str(uuid5(congregation_id, f"booking:{facts['id']}")))
    event.add("sequence", int(facts.get("revision") or 0))
    event.add("dtstamp", at.astimezone(UTC).replace(microsecond=0))
    event.add("dtstart", start)
    event.add("dtend", end if end > start else start + USUAL_LENGTH)
    event.add("summary", _line(facts.get("summary")))
    location = _line(facts.get("location"))
    if location:
        event.add("location", location)
    if location.startswith(_URL_STARTS) and " " not in location:
        event.add("url", location)
    return event


def _person(address: str, name: str) -> vCalAddress:
    # An address of a link is ASCII (RFC 6068), whatever the mailbox is called.
    person = vCalAddress("mailto:" + quote(address, safe=printable))
    if name:
        # Quotes cannot be written within a parameter.
        person.params["CN"] = vText(name.replace('"', "'"))
    return person


def _line(text: object) -> str:
    """Return a producer's text as one clean line."""
    clean = "".join(c if c.isprintable() else " " for c in str(text or ""))
    return " ".join(clean.split())[:_TEXT_MAX]


def _instant(text: object) -> datetime:
    moment = datetime.fromisoformat(str(text))
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} does not say its time zone")
    return moment.astimezone(UTC).replace(microsecond=0)
