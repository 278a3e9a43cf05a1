"""Calendly: webhooks signed over a timestamp and the body, old ones refused.

A guest who moves a booking makes two messages: ``invitee.canceled`` with
``rescheduled``, and ``invitee.created`` whose ``old_invitee`` is the one before.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Final

from tasks.automation.bookings import BookingValues
from tasks.errors import InvalidInput
from tasks.saying import mark
from tasks.sources import reading
from tasks.sources.told import BadSignature, Passed, Signed, Told, Verb

HEADER: Final = "Calendly-Webhook-Signature"
#: How far the call's timestamp may lie from our clock.
TOLERANCE: Final = timedelta(minutes=3)
_URI_MAX: Final = 300
VERBS: Final[Mapping[str, Verb]] = {
    "invitee.created": Verb.CONFIRMED,
    "invitee.canceled": Verb.CANCELLED,
}


def signature_of(secret: str, body: bytes, timestamp: int) -> str:
    """Return the value of the header for a body sent at ``timestamp`` (Unix time)."""
    signed = f"{timestamp}.".encode() + body
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"


def verify(secret: str, call: Signed) -> None:
    """Raise unless the call was signed with the secret just now.

    Raises:
        BadSignature: the header is missing, does not fit, or is too old.
    """
    pairs = [
        pair.strip().partition("=")[::2]
        for pair in call.headers.get(HEADER.lower(), "").split(",")
    ]
    stamp = next((value for name, value in pairs if name == "t"), "")
    given = [value for name, value in pairs if name == "v1"]
    if not given or not (stamp.isascii() and stamp.isdigit() and len(stamp) < 12):
        raise BadSignature(
            "signature_missing",
            mark(
                "The call is not signed: give the signing key to Calendly when you "
                "make the webhook subscription."
            ),
        )
    expected = signature_of(secret, call.body, int(stamp)).rpartition("=")[2].encode()
    if not any(hmac.compare_digest(each.lower().encode(), expected) for each in given):
        raise BadSignature(
            "signature_wrong",
            mark(
                "The signature does not fit: the signing key at Calendly is another "
                "one."
            ),
        )
    if abs(call.received_at.timestamp() - int(stamp)) > TOLERANCE.total_seconds():
        raise BadSignature(
            "timestamp_old",
            mark(
                "The timestamp is more than 3 minutes away from our clock, so this may "
                "be a copy of an old call."
            ),
        )


def read(message: Mapping[str, object]) -> Told | Passed:
    """Read a message.

    Raises:
        InvalidInput: it lacks its id or its date.
    """
    event = reading.text(message.get("event"), 64)
    verb = VERBS.get(event)
    if not event:
        return Passed("", mark("It names no event."))
    if verb is None:
        return Passed(event, f"“{event}” does not concern bookings.")
    payload = reading.section(message, "payload")
    if verb is Verb.CANCELLED and payload.get("rescheduled") is True:
        return Passed(
            event, mark("The guest moved it; the new time comes in a call of its own.")
        )
    invitee = _id_in(payload.get("uri"))
    if not invitee:
        raise InvalidInput("uri_missing", mark("The message has no uri of an invitee."))
    former = _id_in(payload.get("old_invitee")) if verb is Verb.CONFIRMED else ""
    return Told(
        verb=Verb.RESCHEDULED if former else verb,
        event=event,
        external_id=invitee,
        former_id=former or None,
        at=reading.moment(message.get("created_at"), "created_at"),
        event_types=_event_types(reading.section(payload, "scheduled_event")),
        values=partial(_values, payload),
    )


def _id_in(uri: object) -> str:
    """Return the last part of a resource's address.

    >>> _id_in("https://api.calendly.com/scheduled_events/E1/invitees/I1")
    'I1'
    """
    return reading.text(uri, _URI_MAX).rstrip("/").rpartition("/")[2][:200]


def _event_types(scheduled: Mapping[str, object]) -> tuple[str, ...]:
    address = reading.text(scheduled.get("event_type"), _URI_MAX)
    names = (address, _id_in(address), reading.text(scheduled.get("name"), 200))
    return tuple(filter(None, names))


def _values(payload: Mapping[str, object]) -> BookingValues:
    scheduled = reading.section(payload, "scheduled_event")
    place = reading.section(scheduled, "location")
    both = f"{payload.get('first_name') or ''} {payload.get('last_name') or ''}"
    values: BookingValues = {
        "start_time": reading.moment(scheduled.get("start_time"), "start_time"),
        "end_time": reading.moment(scheduled.get("end_time"), "end_time"),
        "guest_name": reading.first_text(120, payload.get("name"), both),
        "guest_email": reading.text(payload.get("email"), 254),
        "guest_phone": reading.text(payload.get("text_reminder_number"), 40),
        "timezone": reading.zone_or_none(payload.get("timezone")),
        "meeting_url": reading.url_or_none(
            place.get("join_url"), place.get("location")
        ),
    }
    return values
