"""Calendly's messages become bookings; old copies of them do not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tasks.models import Booking, BookingStatus, CallOutcome
from tests.support.booking_services import (
    SAID_AT,
    START,
    calendly_message,
    invitee_uri,
)
from tests.tasks.automation.conftest import NOW
from tests.tasks.sources.conftest import Service

LATER = SAID_AT + timedelta(seconds=30)
#: What the databases have no part in is tried on one of them.
on_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


def test_an_invitee_is_a_confirmed_booking(calendly: Service) -> None:
    done = calendly.said()
    assert (done.outcome, done.booking_id) == (CallOutcome.APPLIED, "calendly:INV7QK3M")
    row = calendly.booking
    assert (row.status, row.start_time) == (BookingStatus.CONFIRMED, START)
    assert (row.guest_name, row.guest_email) == ("Zoë Lindqvist", "zoe@example.org")
    assert row.meeting_url == "https://video.example.org/j/9"
    assert row.timezone == "Europe/Stockholm"
    assert calendly.events == ["booking.confirmed"]


def test_first_and_last_name_stand_in_for_the_name(calendly: Service) -> None:
    calendly.said(name=None, first_name="Zoë", last_name="Lindqvist")
    assert calendly.booking.guest_name == "Zoë Lindqvist"


def test_a_cancellation_cancels(calendly: Service) -> None:
    calendly.said()
    calendly.said("invitee.canceled", at=LATER)
    assert calendly.booking.status is BookingStatus.CANCELLED
    assert calendly.events == ["booking.confirmed", "booking.canceled"]


@on_sqlite
@pytest.mark.parametrize("order", ["canceled first", "created first"])
def test_a_move_is_two_calls_and_one_booking(calendly: Service, order: str) -> None:
    calendly.said()

    def gone() -> None:
        done = calendly.said("invitee.canceled", at=LATER, rescheduled=True)
        assert done.outcome is CallOutcome.IGNORED

    if order == "canceled first":
        gone()
    calendly.said(
        "invitee.created",
        "INVNEW",
        at=LATER,
        start=START + timedelta(days=2),
        old_invitee=invitee_uri("INV7QK3M"),
    )
    if order == "created first":
        gone()
    assert calendly.booking.status is BookingStatus.CONFIRMED
    assert calendly.booking.start_time == START + timedelta(days=2)
    assert calendly.events == ["booking.confirmed", "booking.rescheduled"]
    calendly.said("invitee.canceled", "INVNEW", at=LATER + timedelta(hours=1))
    assert calendly.booking.status is BookingStatus.CANCELLED


def test_the_same_call_twice_changes_nothing(calendly: Service) -> None:
    calendly.said()
    assert calendly.said().outcome is CallOutcome.UNCHANGED
    assert calendly.events == ["booking.confirmed"]


def test_a_timestamp_of_four_minutes_ago_is_refused(calendly: Service) -> None:
    done = calendly.call(calendly_message(), at=NOW - timedelta(minutes=4))
    assert (done.outcome, done.code) == (CallOutcome.REFUSED, "timestamp_old")
    assert calendly.world.all(Booking) == []
    assert calendly.calls[0].sentence == done.sentence


def test_a_clock_that_runs_a_little_ahead_is_fine(calendly: Service) -> None:
    done = calendly.call(calendly_message(), at=NOW + timedelta(minutes=2))
    assert done.outcome is CallOutcome.APPLIED


def test_a_signature_with_another_key_is_refused(calendly: Service) -> None:
    done = calendly.call(calendly_message(), secret="somebody else's")
    assert done.code == "signature_wrong"


@on_sqlite
@pytest.mark.parametrize(
    "header",
    ["", "v1=00", "t=1", "t=,v1=", "t=abc,v1=00", "t=²,v1=00", "nonsense", "=,=,=="],
)
def test_a_header_that_is_none_is_refused(calendly: Service, header: str) -> None:
    headers = {"Calendly-Webhook-Signature": header}
    done = calendly.call(calendly_message(), headers=headers)
    assert (done.outcome, done.code) == (CallOutcome.REFUSED, "signature_missing")


@on_sqlite
@pytest.mark.parametrize(
    "event", ["invitee_no_show.created", "routing_form_submission.created", ""]
)
def test_another_event_is_ignored(calendly: Service, event: str) -> None:
    done = calendly.said(event)
    assert done.outcome is CallOutcome.IGNORED


@on_sqlite
@pytest.mark.parametrize(
    ("changes", "words"),
    [({"uri": 7}, "no uri"), ({"scheduled_event": None}, "start_time must be")],
)
def test_a_message_without_the_needed_fails_with_a_sentence(
    calendly: Service, changes: dict[str, object], words: str
) -> None:
    done = calendly.said(**changes)
    assert done.outcome is CallOutcome.FAILED
    assert words in done.sentence
