"""Cal.com's messages become bookings, once each and in the right order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from tasks.automation import bookings
from tasks.models import Booking, BookingStatus, CallOutcome, JobState
from tasks.sources import receiving
from tests.support.booking_services import SAID_AT, START, cal_message
from tests.tasks.automation.conftest import NOW
from tests.tasks.sources.conftest import Service

UID = "kZp3TnQ8rW1xVb6LmYd2Fa"
MOVED = "mQ2wErTy7UiOpAsDfGhJkL"
LATER = SAID_AT + timedelta(seconds=30)
#: What the databases have no part in is tried on one of them.
on_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


def _moved(cal: Service, **values: object) -> None:
    done = cal.said(
        "BOOKING_RESCHEDULED",
        MOVED,
        at=LATER,
        start=START + timedelta(days=1),
        rescheduleUid=UID,
        **values,
    )
    assert done.outcome is CallOutcome.APPLIED, done.sentence


def test_a_created_booking_is_confirmed_and_reported(cal: Service) -> None:
    cal.world.rule("booking.confirmed")
    cal.world.rule("time.before_recording", offset_value=24)
    done = cal.said()
    assert (done.outcome, done.booking_id) == (CallOutcome.APPLIED, f"cal:{UID}")
    row = cal.booking
    assert row.status is BookingStatus.CONFIRMED
    assert (row.start_time, row.end_time) == (START, START + timedelta(minutes=45))
    assert (row.guest_name, row.guest_email) == ("Zoë Lindqvist", "zoe@example.org")
    assert (row.podcast_id, row.timezone) == ("show", "Europe/Stockholm")
    assert row.meeting_url == "https://video.example.org/kZp3"
    assert cal.events == ["booking.confirmed"]
    assert len(cal.world.executions()) == 1
    assert len(cal.world.jobs()) == 1


def test_the_same_call_twice_changes_nothing(cal: Service) -> None:
    cal.said()
    revision = cal.booking.revision
    again = cal.said()
    assert again.outcome is CallOutcome.UNCHANGED
    assert (cal.booking.revision, cal.events) == (revision, ["booking.confirmed"])


def test_a_copy_of_a_call_does_not_revive_what_was_cancelled_here(
    cal: Service,
) -> None:
    cal.said()
    with cal.world.make_session.begin() as session:
        bookings.cancel(session, cal.world.id, f"cal:{UID}", now=NOW)
    cal.said()
    assert cal.booking.status is BookingStatus.CANCELLED


def test_a_request_waits_for_the_host_and_can_be_rejected(cal: Service) -> None:
    cal.said("BOOKING_REQUESTED", status="PENDING")
    assert cal.booking.status is BookingStatus.REQUESTED
    cal.said("BOOKING_REJECTED", at=LATER)
    assert cal.booking.status is BookingStatus.DECLINED
    assert cal.events == ["booking.declined"]


def test_a_request_that_the_host_accepts_is_confirmed(cal: Service) -> None:
    cal.said("BOOKING_REQUESTED", status="PENDING")
    cal.said("BOOKING_CREATED", at=LATER)
    assert cal.booking.status is BookingStatus.CONFIRMED


def test_a_moved_booking_stays_the_same_booking_under_its_new_uid(
    cal: Service,
) -> None:
    cal.said()
    _moved(cal)
    assert cal.booking.id == f"cal:{UID}"
    assert cal.booking.start_time == START + timedelta(days=1)
    assert cal.events == ["booking.confirmed", "booking.rescheduled"]
    done = cal.said("BOOKING_CANCELLED", MOVED, at=LATER + timedelta(minutes=1))
    assert done.booking_id == f"cal:{UID}"
    assert cal.booking.status is BookingStatus.CANCELLED
    assert cal.events[-1] == "booking.canceled"


def test_a_move_moves_the_reminder(cal: Service) -> None:
    cal.world.rule("time.before_recording", offset_value=24)
    cal.said()
    _moved(cal)
    [living] = cal.world.jobs(JobState.PENDING)
    assert living.due_at == START


def test_an_older_call_does_not_undo_a_newer_one(cal: Service) -> None:
    cal.said("BOOKING_CANCELLED", at=LATER)
    assert cal.booking.status is BookingStatus.CANCELLED
    late = cal.said("BOOKING_CREATED")
    assert late.outcome is CallOutcome.IGNORED
    assert "newer" in late.sentence
    assert cal.booking.status is BookingStatus.CANCELLED
    assert cal.events == ["booking.canceled"]


def test_a_creation_that_comes_after_its_move_does_not_bring_the_old_time_back(
    cal: Service,
) -> None:
    _moved(cal)
    assert cal.said().outcome is CallOutcome.IGNORED
    assert cal.booking.start_time == START + timedelta(days=1)


def test_a_move_that_comes_after_its_cancellation_ends_the_old_booking(
    cal: Service,
) -> None:
    cal.said()
    cal.said("BOOKING_CANCELLED", MOVED, at=LATER + timedelta(minutes=1))
    late = cal.said("BOOKING_RESCHEDULED", MOVED, at=LATER, rescheduleUid=UID)
    assert late.outcome is CallOutcome.IGNORED
    states = {row.status for row in cal.world.all(Booking)}
    assert states == {BookingStatus.CANCELLED}


def test_a_move_that_needs_the_hosts_yes_ends_the_old_time_and_asks(
    cal: Service,
) -> None:
    cal.said()
    cal.said("BOOKING_REQUESTED", MOVED, at=LATER, rescheduleUid=UID)
    states = {row.id: row.status for row in cal.world.all(Booking)}
    assert states == {
        f"cal:{UID}": BookingStatus.CANCELLED,
        f"cal:{MOVED}": BookingStatus.REQUESTED,
    }


def test_a_cancellation_of_an_unknown_booking_is_kept_and_reported(
    cal: Service,
) -> None:
    cal.said("BOOKING_CANCELLED")
    assert (cal.booking.guest_name, cal.events) == (
        "Zoë Lindqvist",
        ["booking.canceled"],
    )


@on_sqlite
@pytest.mark.parametrize("event", ["PING", "MEETING_ENDED", "FORM_SUBMITTED"])
def test_an_event_that_is_not_about_bookings_is_ignored(
    cal: Service, event: str
) -> None:
    done = cal.said(event)
    assert done.outcome is CallOutcome.IGNORED
    assert "does not concern bookings" in done.sentence
    assert cal.world.all(Booking) == []
    [call] = cal.calls
    assert (call.event, call.outcome) == (event, CallOutcome.IGNORED)


def test_a_custom_payload_is_ignored_with_a_sentence(cal: Service) -> None:
    done = cal.call({"content": "A new booking"})
    assert done.outcome is CallOutcome.IGNORED
    assert "custom payload" in done.sentence


def test_two_copies_at_the_same_moment_make_one_booking(cal: Service) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(cal.said) for _ in range(4)]
        outcomes = sorted(each.result(60).outcome for each in done)
    assert outcomes == ["applied", "unchanged", "unchanged", "unchanged"]
    assert cal.events == ["booking.confirmed"]


def test_a_move_and_its_cancellation_at_the_same_moment_end_cancelled(
    cal: Service,
) -> None:
    cal.said()
    with ThreadPoolExecutor(2) as pool:
        pool.submit(cal.said, "BOOKING_RESCHEDULED", MOVED, at=LATER, rescheduleUid=UID)
        pool.submit(
            cal.said, "BOOKING_CANCELLED", MOVED, at=LATER + timedelta(seconds=1)
        )
    states = {row.status for row in cal.world.all(Booking)}
    assert states == {BookingStatus.CANCELLED}


def test_seats_are_ignored_with_a_sentence(cal: Service) -> None:
    assert "seats" in cal.said(seatsPerTimeSlot=10).sentence


def test_a_signature_with_another_secret_is_refused(cal: Service) -> None:
    done = cal.call(cal_message(), secret="somebody else's")
    assert (done.outcome, done.code) == (CallOutcome.REFUSED, "signature_wrong")
    assert cal.world.all(Booking) == []
    [call] = cal.calls
    assert (call.outcome, call.body) == (CallOutcome.REFUSED, None)


@on_sqlite
@pytest.mark.parametrize("header", ["", "no-secret-provided"])
def test_a_call_without_a_signature_is_refused(cal: Service, header: str) -> None:
    done = cal.call(cal_message(), headers={"X-Cal-Signature-256": header})
    assert done.code == "signature_missing"


def test_a_flood_of_bad_calls_is_one_row_with_a_count(cal: Service) -> None:
    for _ in range(7):
        cal.call(cal_message(), secret="somebody else's")
    [call] = cal.calls
    assert call.n_times == 7


@on_sqlite
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not valid JSON"),
        (b"[1]", "must be a JSON object"),
        (b"[" * 100_000, "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"1" * 5000, "not valid JSON"),
    ],
)
def test_a_signed_body_that_is_no_object_fails_with_a_sentence(
    cal: Service, body: bytes, words: str
) -> None:
    done = cal.call(body)
    assert done.outcome is CallOutcome.FAILED
    assert words in done.sentence


@on_sqlite
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"uid": None}, "no uid"),
        ({"startTime": "soon"}, "startTime must be a date"),
        ({"startTime": "2026-03-20T14:00:00"}, "offset"),
        ({"endTime": None}, "endTime must be a date"),
        ({"endTime": "2026-03-20T13:00:00Z"}, "after start_time"),
        ({"attendees": [{"email": "nobody"}]}, "e-mail address"),
    ],
)
def test_a_value_that_cannot_be_kept_fails_with_a_sentence_and_keeps_nothing(
    cal: Service, changes: dict[str, object], words: str
) -> None:
    done = cal.said(**changes)
    assert done.outcome is CallOutcome.FAILED
    assert words in done.sentence
    assert cal.world.all(Booking) == []
    assert cal.calls[0].sentence == done.sentence


def test_odd_values_that_do_not_matter_are_left_out(cal: Service) -> None:
    odd = {"email": "zoe@example.org", "name": "Z\x00\ud800" * 90, "timeZone": "Mars"}
    done = cal.said(attendees=[odd, 7], metadata=None, location="Room 3")
    assert done.outcome is CallOutcome.APPLIED
    assert (cal.booking.timezone, cal.booking.meeting_url) == (None, None)
    assert len(cal.booking.guest_name) <= 120


def test_event_types_stand_for_booking_links(
    make_service: Callable[..., Service],
) -> None:
    cal = make_service(event_types={"Interview": "l1"}, only_listed=True)
    cal.said()
    assert cal.booking.booking_link_id == "l1"
    done = cal.said(uid="another", type="sales-call", eventTypeId=5, title="Sales")
    assert done.outcome is CallOutcome.IGNORED
    assert "sales-call" in done.sentence
    assert len(cal.world.all(Booking)) == 1


def test_a_second_source_of_another_podcast_does_not_take_a_booking_over(
    make_service: Callable[..., Service],
) -> None:
    cal, other = make_service(), make_service(podcast_id="other")
    cal.said()
    done = other.said("BOOKING_RESCHEDULED", at=LATER)
    assert done.outcome is CallOutcome.IGNORED
    assert "belongs to the podcast" in done.sentence
    assert cal.booking.podcast_id == "show"


def test_a_kept_body_shows_no_secrets_and_no_whole_addresses(cal: Service) -> None:
    cal.said(videoCallData={"password": "door-code"}, paymentData={"card": "4242"})
    body = cal.calls[0].body or ""
    assert "zoe@example.org" not in body
    assert "zo•••@example.org" in body
    assert "door-code" not in body
    assert "4242" not in body
    assert len(body) <= 4000


def test_a_call_that_makes_the_program_fail_is_kept_and_changes_nothing(
    cal: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = receiving.apply

    def breaks(*given: Any, **more: Any) -> Any:
        usual(*given, **more)
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(receiving, "apply", breaks)
        answer = cal.said("BOOKING_CREATED", UID)
    assert (answer.outcome, answer.code) == (CallOutcome.FAILED, "internal_error")
    [kept] = cal.calls
    assert "see its log" in kept.sentence
    assert cal.world.all(Booking) == []
    assert cal.said("BOOKING_CREATED", UID).outcome is CallOutcome.APPLIED


def test_a_database_that_is_away_is_no_answer(
    cal: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_away(*_: Any, **__: Any) -> None:
        raise OperationalError("INSERT", None, Exception("gone"))

    monkeypatch.setattr(receiving, "apply", is_away)
    with pytest.raises(OperationalError):
        cal.said("BOOKING_CREATED", UID)
