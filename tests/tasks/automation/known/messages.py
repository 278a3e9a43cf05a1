"""What a mail says, to whom, and by whose clock."""

from __future__ import annotations

from sqlalchemy import select

from tasks.models import Booking, ExecutionContext, Podcast
from tests.tasks.automation.conftest import NOW
from tests.tasks.automation.known.case import DAY, START, Case


def another_host(case: Case) -> object:
    host = {"recipient": "host", "subject": "Hello", "text": "Hello", "html": ""}
    case.remind(settings=host)
    case.book()
    case.set(Podcast, (case.world.id, "show"), host_email="eve@example.org")
    case.work(START - DAY)
    return [message["to"] for _, message in case.post.sent]


def the_guests_clock(case: Case) -> object:
    says = {"recipient": "guest", "subject": "Hello", "html": ""}
    when = "{{ booking.start_time | date: '%H:%M' }} {{ booking.timezone }}"
    case.remind(settings={**says, "text": when})
    case.book(timezone="Asia/Kathmandu")
    case.work(START - DAY)
    return [message["text"] for _, message in case.post.sent]


def a_link_that_is_missing(case: Case) -> object:
    says = {"recipient": "guest", "subject": "Hello", "html": ""}
    case.world.rule(
        "booking.confirmed", settings={**says, "text": "{{ booking.meeting_url }}"}
    )
    case.book()
    return case.work(NOW), case.ends()


def nobody_is_called_none(case: Case) -> object:
    says = {"recipient": "guest", "subject": "Hello", "html": ""}
    text = "Dear {{ booking.guest_phone | default: 'friend' }}"
    case.world.rule("booking.confirmed", settings={**says, "text": text})
    case.book()
    case.work(NOW)
    return [message["text"] for _, message in case.post.sent]


def a_corrected_address(case: Case) -> object:
    case.remind()
    case.book()
    case.set(Booking, (case.world.id, "b1"), guest_email="new@example.org")
    case.work(START - DAY)
    return [message["to"] for _, message in case.post.sent]


def no_secret_in_a_snapshot(case: Case) -> object:
    case.world.rule("booking.confirmed")
    case.book(guest_id="g1")
    with case.world.make_session() as session:
        kept = session.scalars(select(ExecutionContext)).one()
    return "let-me-in" in repr(kept.context), kept.context["guest"]["name"]
