"""Messages as Cal.com and Calendly send them, with values of our own, and signed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tasks.sources import calcom, calendly
from tasks.sources.told import Signed

SECRET = "a secret for tests"
START = datetime(2026, 3, 20, 14, 0, tzinfo=UTC)
SAID_AT = datetime(2026, 3, 10, 11, 59, 58, 538000, tzinfo=UTC)
_API = "https://api.calendly.com"


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def cal_message(
    event: str = "BOOKING_CREATED",
    uid: str = "kZp3TnQ8rW1xVb6LmYd2Fa",
    *,
    at: datetime = SAID_AT,
    start: datetime = START,
    **changes: Any,
) -> dict[str, Any]:
    """Return a message of Cal.com."""
    payload = {
        "type": "interview",
        "title": "Interview between Ines and Zoë Lindqvist",
        "description": "",
        "additionalNotes": "",
        "customInputs": {},
        "startTime": _iso(start),
        "endTime": _iso(start + timedelta(minutes=45)),
        **_cal_people(),
        "userFieldsResponses": {},
        "location": "integrations:daily",
        "destinationCalendar": None,
        "requiresConfirmation": None,
        "eventTypeId": 77,
        "seatsPerTimeSlot": None,
        "uid": uid,
        "eventTitle": "Interview",
        "length": 45,
        "bookingId": 1091,
        "metadata": {"videoCallUrl": "https://video.example.org/kZp3"},
        "status": "ACCEPTED",
    }
    return {"triggerEvent": event, "createdAt": _iso(at), "payload": payload | changes}


def _cal_people() -> dict[str, Any]:
    """Return who offers the booking, who made it, and what they answered."""
    return {
        "organizer": {
            "id": 12,
            "name": "Ines",
            "email": "ines@example.org",
            "username": "ines",
            "timeZone": "Europe/Berlin",
            "language": {"locale": "de"},
            "utcOffset": 60,
        },
        "responses": {
            "name": {"label": "your_name", "value": "Zoë Lindqvist"},
            "email": {"label": "email_address", "value": "zoe@example.org"},
            "location": {
                "label": "location",
                "value": {"optionValue": "", "value": "integrations:daily"},
            },
        },
        "attendees": [
            {
                "email": "zoe@example.org",
                "name": "Zoë Lindqvist",
                "timeZone": "Europe/Stockholm",
                "language": {"locale": "sv"},
                "utcOffset": 60,
            }
        ],
    }


def calendly_message(
    event: str = "invitee.created",
    invitee: str = "INV7QK3M",
    *,
    at: datetime = SAID_AT,
    start: datetime = START,
    **changes: Any,
) -> dict[str, Any]:
    """Return a message of Calendly."""
    scheduled = f"{_API}/scheduled_events/EVT4HH2P"
    payload = {
        "cancel_url": f"https://calendly.com/cancellations/{invitee}",
        "created_at": _iso(at),
        "email": "zoe@example.org",
        "event": scheduled,
        "name": "Zoë Lindqvist",
        "first_name": None,
        "last_name": None,
        "new_invitee": None,
        "old_invitee": None,
        "questions_and_answers": [],
        "reschedule_url": f"https://calendly.com/reschedulings/{invitee}",
        "rescheduled": False,
        "status": "active" if event == "invitee.created" else "canceled",
        "text_reminder_number": None,
        "timezone": "Europe/Stockholm",
        "tracking": {"utm_campaign": None, "utm_source": None},
        "updated_at": _iso(at),
        "uri": f"{scheduled}/invitees/{invitee}",
        "scheduled_event": {
            "uri": scheduled,
            "name": "Interview",
            "status": "active",
            "start_time": _iso(start),
            "end_time": _iso(start + timedelta(minutes=45)),
            "event_type": f"{_API}/event_types/ETYPE9",
            "location": {
                "type": "zoom",
                "status": "pushed",
                "join_url": "https://video.example.org/j/9",
            },
        },
    }
    return {
        "event": event,
        "created_at": _iso(at),
        "created_by": f"{_API}/users/USR1",
        "payload": payload | changes,
    }


def invitee_uri(invitee: str) -> str:
    """Return the address of an invitee at Calendly."""
    return f"{_API}/scheduled_events/EVT4HH2P/invitees/{invitee}"


def signed_by_cal(
    message: dict[str, Any] | bytes, secret: str = SECRET
) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of a call of Cal.com."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    signature = calcom.signature_of(secret, body)
    return body, {calcom.HEADER: signature, "Content-Type": "application/json"}


def signed_by_calendly(
    message: dict[str, Any] | bytes, at: datetime, secret: str = SECRET
) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of a call of Calendly."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    signature = calendly.signature_of(secret, body, int(at.timestamp()))
    return body, {calendly.HEADER: signature, "Content-Type": "application/json"}


def as_call(parts: tuple[bytes, dict[str, str]], at: datetime) -> Signed:
    """Return a call as it arrives."""
    body, headers = parts
    return Signed({name.lower(): value for name, value in headers.items()}, body, at)
