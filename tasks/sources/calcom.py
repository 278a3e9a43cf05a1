"""Cal.com: webhooks signed with HMAC-SHA256 over the body, in hexadecimal.

The envelope is ``triggerEvent``, ``createdAt``, ``payload``.  A booking that is moved
gets another ``uid`` there; ``rescheduleUid`` then names the one it had before.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from functools import partial
from typing import Final

from tasks.automation.bookings import BookingValues
from tasks.errors import InvalidInput
from tasks.saying import mark
from tasks.sources import reading
from tasks.sources.told import BadSignature, Passed, Signed, Told, Verb

HEADER: Final = "X-Cal-Signature-256"
#: What the header says when no secret is set over there.
_NO_SECRET: Final = "no-secret-provided"  # noqa: S105  # a word of theirs, no secret
_UID_MAX: Final = 200
VERBS: Final[Mapping[str, Verb]] = {
    "BOOKING_REQUESTED": Verb.REQUESTED,
    "BOOKING_CREATED": Verb.CONFIRMED,
    "BOOKING_RESCHEDULED": Verb.RESCHEDULED,
    "BOOKING_CANCELLED": Verb.CANCELLED,
    "BOOKING_REJECTED": Verb.DECLINED,
}


def signature_of(secret: str, body: bytes) -> str:
    """Return the value of the header for a body."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def verify(secret: str, call: Signed) -> None:
    """Raise unless the call was signed with the secret.

    Raises:
        BadSignature: the header is missing, or does not fit body and secret.
    """
    given = call.headers.get(HEADER.lower(), "").strip()
    if not given or given == _NO_SECRET:
        raise BadSignature(
            "signature_missing",
            mark(
                "The call is not signed: paste the secret into the webhook at Cal.com."
            ),
        )
    expected = signature_of(secret, call.body)
    if not hmac.compare_digest(given.lower().encode(), expected.encode()):
        raise BadSignature(
            "signature_wrong",
            mark("The signature does not fit: the secret at Cal.com is another one."),
        )


def read(message: Mapping[str, object]) -> Told | Passed:
    """Read a message.

    Raises:
        InvalidInput: it lacks its id or its date.
    """
    event = reading.text(message.get("triggerEvent"), 64)
    verb = VERBS.get(event)
    if not event:
        return Passed(
            "", mark("It names no event; leave the custom payload off at Cal.com.")
        )
    if verb is None:
        return Passed(event, f"“{event}” does not concern bookings.")
    payload = reading.section(message, "payload")
    if payload.get("seatsPerTimeSlot"):
        return Passed(
            event, mark("Event types with several seats cannot be followed yet.")
        )
    uid = reading.text(payload.get("uid"), _UID_MAX)
    if not uid:
        raise InvalidInput("uid_missing", mark("The message has no uid of a booking."))
    former = reading.text(payload.get("rescheduleUid"), _UID_MAX)
    return Told(
        verb=verb,
        event=event,
        external_id=uid,
        former_id=former if former and former != uid else None,
        at=reading.moment(message.get("createdAt"), "createdAt"),
        event_types=_event_types(payload),
        values=partial(_values, payload),
    )


def _event_types(payload: Mapping[str, object]) -> tuple[str, ...]:
    number = payload.get("eventTypeId")
    names = (payload.get("type"), str(number) if number else "", payload.get("title"))
    return tuple(filter(None, (reading.text(name, 200) for name in names)))


def _values(payload: Mapping[str, object]) -> BookingValues:
    attendees = reading.items(payload, "attendees")
    guest = attendees[0] if attendees else {}
    answers = reading.section(payload, "responses")
    answered = {
        name: reading.section(answers, name).get("value")
        for name in ("name", "email", "attendeePhoneNumber")
    }
    video = reading.section(payload, "videoCallData").get("url")
    called = reading.section(payload, "metadata").get("videoCallUrl")
    values: BookingValues = {
        "start_time": reading.moment(payload.get("startTime"), "startTime"),
        "end_time": reading.moment(payload.get("endTime"), "endTime"),
        "guest_name": reading.first_text(120, guest.get("name"), answered["name"]),
        "guest_email": reading.first_text(254, guest.get("email"), answered["email"]),
        "guest_phone": reading.first_text(
            40,
            guest.get("phoneNumber"),
            answered["attendeePhoneNumber"],
            payload.get("smsReminderNumber"),
        ),
        "timezone": reading.zone_or_none(guest.get("timeZone")),
        "meeting_url": reading.url_or_none(called, video, payload.get("location")),
    }
    return values
