"""The verbs of bookings: change, event and planning together, and idempotent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import update

from tasks.automation import bookings, episodes
from tasks.automation.results import Changed
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    Booking,
    Execution,
    ExecutionState,
    JobState,
    Reason,
    ScheduledJob,
)
from tests.tasks.automation.conftest import NOW, World

START = NOW + timedelta(days=3)


def _do(world: World, verb: Callable[..., Changed[Booking]], *args: Any) -> Any:
    with world.make_session.begin() as session:
        return verb(session, world.id, "b1", *args, now=NOW)


def _save(world: World, **values: Any) -> Changed[Booking]:
    with world.make_session.begin() as session:
        return bookings.save_booking(session, world.id, "b1", now=NOW, **values)


def _requested(world: World) -> None:
    world.booking(status="requested", confirmed_at=None)


def _rules(world: World) -> None:
    for name in ("confirmed", "declined", "canceled", "rescheduled"):
        world.rule(f"booking.{name}")
    world.rule("time.before_recording", offset_value=24)


def _pending(world: World) -> list[str]:
    return [e.trigger_type for e in world.executions() if e.state.value == "pending"]


def test_confirming_reports_and_plans(world: World) -> None:
    _requested(world)
    _rules(world)
    done = _do(world, bookings.confirm)
    assert done.changed
    assert (done.row.status, done.row.confirmed_at, done.row.revision) == (
        "confirmed",
        NOW,
        1,
    )
    assert done.event.executions_created == 1
    assert done.schedule.jobs_created == 1
    assert _pending(world) == ["booking.confirmed"]
    [job] = world.jobs("pending")
    assert job.due_at == START - timedelta(hours=24)


def test_confirming_again_changes_nothing_and_tells_nobody(world: World) -> None:
    _requested(world)
    _rules(world)
    _do(world, bookings.confirm)
    again = _do(world, bookings.confirm)
    assert not again.changed
    assert (again.event, again.schedule) == (None, None)
    assert len(world.events()) == 1
    assert len(world.jobs()) == 1


def test_cancelling_ends_what_waits_and_still_reports_the_cancellation(
    world: World,
) -> None:
    _requested(world)
    _rules(world)
    _do(world, bookings.confirm)
    done = _do(world, bookings.cancel)
    assert (done.jobs_cancelled, done.executions_cancelled) == (1, 1)
    assert done.event.executions_created == 1
    assert _pending(world) == ["booking.canceled"]
    [job] = world.jobs()
    assert (job.state, job.reason) == (JobState.CANCELLED, Reason.BOOKING_CANCELLED)
    assert job.settled_at == NOW
    [execution] = [
        e for e in world.executions() if e.trigger_type == "booking.confirmed"
    ]
    assert execution.reason is Reason.BOOKING_CANCELLED
    assert not _do(world, bookings.cancel).changed


def test_a_cancelled_booking_that_is_confirmed_again_is_planned_again(
    world: World,
) -> None:
    _requested(world)
    _rules(world)
    for verb in (bookings.confirm, bookings.cancel, bookings.confirm):
        assert _do(world, verb).changed
    assert len(world.jobs("pending")) == 1
    assert _pending(world).count("booking.confirmed") == 1
    assert len(world.events()) == 3


def test_each_move_of_one_day_fires_and_a_repeated_call_does_not(world: World) -> None:
    world.booking()
    _rules(world)
    for hours in (1, 2, 2, 1, 0):
        _do(world, bookings.reschedule, START + timedelta(hours=hours))
    assert _pending(world) == ["booking.rescheduled"] * 4
    [job] = world.jobs("pending")
    assert job.reference_at == START


def test_moving_cancels_reminders_that_wait_to_go_out(world: World) -> None:
    world.booking()
    rule = world.rule("time.before_recording", offset_value=24)
    world.add(
        Execution(
            congregation_id=world.id,
            rule_id=rule.id,
            rule_version=1,
            trigger_type="time.before_recording",
            action="email",
            podcast_id="show",
            booking_id="b1",
            idempotency_key="k",
            due_at=NOW,
            run_at=NOW,
        )
    )
    done = _do(world, bookings.reschedule, START + timedelta(days=1))
    assert done.executions_cancelled == 1
    [execution] = world.executions()
    assert execution.state is ExecutionState.CANCELLED
    assert execution.reason is Reason.SUPERSEDED


def test_a_moved_booking_keeps_its_length(world: World) -> None:
    world.booking(end_time=START + timedelta(minutes=45))
    done = _do(world, bookings.reschedule, START + timedelta(days=1))
    assert done.row.end_time == START + timedelta(days=1, minutes=45)


@pytest.mark.parametrize(
    ("status", "verb", "code"),
    [
        ("declined", bookings.confirm, "booking_declined"),
        ("declined", bookings.cancel, "booking_declined"),
        ("confirmed", bookings.decline, "booking_confirmed"),
        ("cancelled", bookings.decline, "booking_cancelled"),
    ],
)
def test_an_illegal_move_is_a_conflict(
    world: World, status: str, verb: Callable[..., Any], code: str
) -> None:
    world.booking(status=status)
    with pytest.raises(Conflict) as caught:
        _do(world, verb)
    assert caught.value.code == code
    assert not world.events()


@pytest.mark.parametrize("status", ["declined", "cancelled"])
def test_a_booking_that_is_over_cannot_move(world: World, status: str) -> None:
    world.booking(status=status)
    with pytest.raises(Conflict):
        _do(world, bookings.reschedule, START + timedelta(days=1))


def test_declining_reports_it(world: World) -> None:
    _requested(world)
    _rules(world)
    done = _do(world, bookings.decline)
    assert done.event.executions_created == 1
    assert _pending(world) == ["booking.declined"]


def test_a_booking_that_is_not_there_is_not_found(world: World, twin: World) -> None:
    twin.booking()
    for verb in (bookings.confirm, bookings.decline, bookings.cancel):
        with pytest.raises(NotFound, match="no booking 'b1'"):
            _do(world, verb)


def test_saving_creates_changes_and_leaves_alone(world: World) -> None:
    new = _save(world, podcast_id="show", start_time=START, guest_name=" Zoë ")
    assert (new.created, new.row.status, new.row.guest_name) == (
        True,
        "requested",
        "Zoë",
    )
    assert not _save(world, guest_name="Zoë").changed
    changed = _save(world, meeting_url="https://meet.example.org/x", guest_email=None)
    assert changed.changed
    assert not changed.created
    assert changed.row.guest_name == "Zoë"
    assert changed.event is None


def test_saving_another_start_of_a_confirmed_booking_is_a_move(world: World) -> None:
    world.booking()
    _rules(world)
    done = _save(world, start_time=START + timedelta(hours=2))
    assert done.event
    assert done.event.executions_created == 1
    assert done.schedule
    assert done.schedule.jobs_created == 1
    assert done.row.revision == 1


def test_a_booking_names_records_that_come_later(world: World) -> None:
    _save(
        world,
        podcast_id="show",
        start_time=START,
        episode_id="later",
        guest_id="later",
        booking_link_id="later",
    )
    world.rule("booking.confirmed")
    assert _do(world, bookings.confirm).event.executions_created == 1


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"start_time": None}, "required"),
        ({"podcast_id": None}, "required"),
        ({"start_time": START.replace(tzinfo=None)}, "naive_datetime"),
        ({"end_time": START}, "end_before_start"),
        ({"timezone": "Mars"}, "unknown_timezone"),
        ({"guest_email": "nobody"}, "bad_email"),
        ({"guest_email": "a@b.org\nBcc: c@d.org"}, "bad_email"),
        ({"guest_name": "x" * 121}, "too_long"),
        ({"guest_name": "a\0b"}, "control_character"),
        ({"guest_name": 7}, "bad_text"),
        ({"meeting_url": "javascript:alert(1)"}, "bad_url"),
        ({"meeting_url": "http://[broken"}, "bad_url"),
        ({"guest_id": "a b"}, "bad_id"),
        ({"colour": "red"}, "unknown_field"),
        ({"podcast_id": "nowhere"}, "unknown_podcast"),
    ],
)
def test_values_that_cannot_be_accepted_are_refused(
    world: World, values: dict[str, Any], code: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        _save(world, **{"podcast_id": "show", "start_time": START, **values})
    assert caught.value.code == code
    assert not world.all(Booking)


@pytest.mark.parametrize(
    "given", ["jörg@bücher.example", "jo\u0308rg@xn--bcher-kva.example"]
)
def test_an_address_is_kept_in_one_spelling(world: World, given: str) -> None:
    _save(world, podcast_id="show", start_time=START, guest_email=given)

    (row,) = world.all(Booking)
    assert row.guest_email == "jörg@xn--bcher-kva.example"


def test_a_booking_cannot_move_to_another_podcast(world: World) -> None:
    world.booking()
    with pytest.raises(Conflict) as caught:
        _save(world, podcast_id="other")
    assert caught.value.code == "podcast_fixed"


def test_a_recording_is_announced_by_its_booking_and_not_twice(world: World) -> None:
    world.rule("time.before_recording", offset_value=24)
    world.episode(recording_at=START)
    with world.make_session.begin() as session:
        episodes.reschedule(
            session, world.id, "e1", START + timedelta(hours=1), now=NOW
        )
    assert [job.booking_id for job in world.jobs("pending")] == [None]
    world.booking(status="requested", episode_id="e1")
    _do(world, bookings.confirm)
    assert [job.booking_id for job in world.jobs("pending")] == ["b1"]
    _do(world, bookings.cancel)
    assert [job.booking_id for job in world.jobs("pending")] == [None]
    _do(world, bookings.confirm)
    _save(world, episode_id=None)
    assert {job.booking_id for job in world.jobs("pending")} == {"b1", None}


def test_an_event_that_cannot_be_stored_takes_the_change_back(world: World) -> None:
    _requested(world)
    _rules(world)
    engine = world.make_session.kw["bind"]

    def explode(*args: Any) -> None:
        if "INSERT INTO executions" in args[2]:
            raise RuntimeError("boom")

    sqlalchemy_event.listen(engine, "before_cursor_execute", explode)
    with pytest.raises(RuntimeError):
        _do(world, bookings.confirm)
    [row] = world.all(Booking)
    assert (row.status, row.revision) == ("requested", 0)
    assert not world.events()


def test_a_dispatched_reminder_is_not_made_again_for_the_same_time(
    world: World,
) -> None:
    world.booking()
    _rules(world)
    _do(world, bookings.reschedule, START + timedelta(hours=1))
    with world.make_session.begin() as session:
        session.execute(update(ScheduledJob).values(state=JobState.DISPATCHED))
    _do(world, bookings.cancel)
    _do(world, bookings.confirm)
    assert not world.jobs("pending")
