"""Calendar files that other programs read: invited, moved, called off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.headerregistry import Address
from typing import Any
from uuid import UUID

import pytest
from icalendar import Calendar

from tasks.outbound.calendars import CalendarFile, calendar_file

AT = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
HOUSE = UUID(int=1)
FACTS: dict[str, Any] = {
    "id": "b1",
    "revision": 0,
    "status": "confirmed",
    "start": "2026-03-12T14:00:00+01:00",
    "end": "2026-03-12T14:45:00+01:00",
    "summary": "Bells: Recording",
    "location": "https://example.org/room",
    "host": "Bells",
    "guest": "Zoë",
}


def made(house: UUID = HOUSE, **changes: object) -> CalendarFile:
    return calendar_file(
        {**FACTS, **changes},
        house,
        organizer=Address("Studio", "studio", "carillon.example"),
        attendee="zoe@example.org",
        at=AT,
    )


def event_of(file: CalendarFile) -> Any:
    calendar: Any = Calendar.from_ical(file.content)
    assert calendar["METHOD"] == file.method
    (event,) = calendar.walk("VEVENT")
    return event


def test_an_invitation_tells_when_where_and_who() -> None:
    file = made()
    event = event_of(file)

    assert file.method == "REQUEST"
    assert event["DTSTART"].dt == datetime(2026, 3, 12, 13, 0, tzinfo=UTC)
    assert event["DTEND"].dt == datetime(2026, 3, 12, 13, 45, tzinfo=UTC)
    assert event["DTSTAMP"].dt == AT
    assert event["SUMMARY"] == "Bells: Recording"
    assert event["URL"] == event["LOCATION"] == "https://example.org/room"
    assert event["STATUS"] == "CONFIRMED"
    assert event["ORGANIZER"] == "mailto:studio@carillon.example"
    assert event["ATTENDEE"] == "mailto:zoe@example.org"
    assert event["ATTENDEE"].params["CN"] == "Zoë"
    assert all(line.endswith("\r\n") for line in file.content.splitlines(keepends=True))
    assert max(len(line.encode()) for line in file.content.split("\r\n")) <= 75


def test_a_move_changes_the_same_entry_and_a_cancellation_removes_it() -> None:
    first = event_of(made())
    moved = event_of(made(revision=1, start="2026-03-13T09:00:00+01:00"))
    off = made(revision=2, status="cancelled")
    gone = event_of(off)

    assert first["UID"] == moved["UID"] == gone["UID"]
    assert [each["SEQUENCE"] for each in (first, moved, gone)] == [0, 1, 2]
    assert off.method == "CANCEL"
    assert gone["STATUS"] == "CANCELLED"


def test_other_bookings_and_congregations_have_other_entries() -> None:
    uids = {
        event_of(file)["UID"] for file in (made(), made(id="b2"), made(UUID(int=2)))
    }
    assert len(uids) == 3


def test_a_booking_that_is_only_requested_is_tentative() -> None:
    assert event_of(made(status="requested"))["STATUS"] == "TENTATIVE"


@pytest.mark.parametrize("end", [None, "", "2026-03-12T13:00:00+01:00"])
def test_without_a_later_end_it_takes_an_hour(end: str | None) -> None:
    event = event_of(made(end=end))
    assert event["DTEND"].dt - event["DTSTART"].dt == timedelta(hours=1)


@pytest.mark.parametrize(
    "text",
    [
        "a\r\nATTENDEE:mailto:evil@x.y",
        "a\nEND:VEVENT\nBEGIN:VALARM",
        'x";CN="y',
        "a\u2028b\x00c",
        "\\n;,:\\",
        "ä" * 400,
    ],
)
@pytest.mark.parametrize("field", ["summary", "location", "host", "guest", "id"])
def test_no_value_breaks_out_of_its_line(field: str, text: str) -> None:
    event = event_of(made(**{field: text}))

    assert event.subcomponents == []
    assert event["ATTENDEE"] == "mailto:zoe@example.org"
    assert sorted(event.keys()) == sorted(
        {*event_of(made()).keys()} - ({"URL"} if field == "location" else set())
    )


@pytest.mark.parametrize("start", ["soon", "2026-03-12T14:00:00", None])
def test_what_is_no_instant_is_refused(start: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        made(start=start)
