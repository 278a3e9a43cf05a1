"""Quiet hours are kept by what events and dates lead to, up to the last moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from tasks.automation import AutomationEvent, bookings, emit_automation_event, podcasts
from tasks.automation.hushing import hushed
from tasks.lanes import executions, scheduled_jobs
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Booking,
    Execution,
    ExecutionState,
    JobState,
    QuietPolicy,
    Reason,
    Rule,
    ScheduledJob,
)
from tests.support.fakes import FakePost, bench
from tests.support.statements import statements
from tests.tasks.automation.conftest import World

NIGHT: dict[str, Any] = {"quiet_from": "22:00", "quiet_until": "07:00"}
#: Half past eleven at night in Berlin, where the congregation is.
LATE = datetime(2026, 3, 10, 22, 30, tzinfo=UTC)
MORNING = datetime(2026, 3, 11, 6, 0, tzinfo=UTC)
HOST = {"recipient": "host", "subject": "Hello", "text": "Hello", "html": ""}


def _emit(world: World, now: datetime = LATE) -> None:
    payload = AutomationEvent(
        "booking.confirmed", "show", booking_id="b1", congregation_id=world.id
    )
    with world.make_session.begin() as session:
        assert emit_automation_event(session, payload, now=now).success


def _sweep(world: World, now: datetime) -> FakePost:
    post = FakePost()
    there = bench(world.make_session, lambda: now, post)
    scheduled_jobs.sweep(there, 10)
    executions.sweep(there, 10)
    return post


def _change(world: World, model: type[Any], **values: Any) -> None:
    with world.make_session.begin() as session:
        session.execute(update(model).values(**values))


def test_what_an_event_asks_for_at_night_goes_out_in_the_morning(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", **NIGHT)
    _emit(world)
    [row] = world.executions()
    assert (row.due_at, row.run_at) == (LATE, MORNING)
    assert _sweep(world, MORNING - timedelta(seconds=1)).sent == []
    assert len(_sweep(world, MORNING).sent) == 1


def test_by_day_nothing_waits(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", **NIGHT)
    _emit(world, MORNING)
    assert len(_sweep(world, MORNING).sent) == 1


@pytest.mark.parametrize(
    ("settings", "n_sent"), [(None, 1), (HOST, 0)], ids=["guest", "host"]
)
def test_a_guest_far_away_has_another_night_than_the_host(
    world: World, settings: dict[str, str] | None, n_sent: int
) -> None:
    world.booking(timezone="Asia/Kathmandu")  # a quarter past four in the afternoon
    said = {"settings": settings} if settings else {}
    world.rule("booking.confirmed", quiet_from="11:00", quiet_until="13:00", **said)
    noon = datetime(2026, 3, 10, 10, 30, tzinfo=UTC)
    _emit(world, noon)
    assert len(_sweep(world, noon).sent) == n_sent


def test_what_was_due_by_day_is_given_back_at_night_and_uses_no_attempt(
    world: World,
) -> None:
    world.booking()
    world.rule("booking.confirmed", **NIGHT)
    _emit(world, LATE - timedelta(hours=2))
    assert _sweep(world, LATE).sent == []
    [row] = world.executions()
    assert (row.state, row.run_at) == (ExecutionState.PENDING, MORNING)
    assert (row.failures, row.due_at) == (0, LATE - timedelta(hours=2))
    with world.make_session() as session:
        attempt = session.query(Attempt).one()
    assert attempt.outcome is AttemptOutcome.RELEASED
    assert attempt.effect_started_at is None


@pytest.mark.parametrize("before", [timedelta(0), timedelta(hours=2)])
def test_a_rule_that_skips_ends_what_meets_the_night(
    world: World, before: timedelta
) -> None:
    world.booking()
    world.rule("booking.confirmed", quiet_policy=QuietPolicy.SKIP, **NIGHT)
    _emit(world, LATE - before)
    assert _sweep(world, LATE).sent == []
    [row] = world.executions()
    assert (row.state, row.reason) == (ExecutionState.SKIPPED, Reason.QUIET_HOURS)


def test_what_a_night_skips_is_not_sent_by_day_instead(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", quiet_policy=QuietPolicy.SKIP, **NIGHT)
    _emit(world)
    assert _sweep(world, MORNING + timedelta(hours=1)).sent == []


def test_a_cancellation_during_the_night_ends_what_waits(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", **NIGHT)
    _emit(world)
    with world.make_session.begin() as session:
        bookings.cancel(session, world.id, "b1", now=LATE)
    assert _sweep(world, MORNING).sent == []


def _planned(world: World, start: datetime, **rule: Any) -> None:
    world.booking(start_time=start, status="requested", confirmed_at=None)
    world.rule("time.before_recording", **{"offset_value": 12, **NIGHT, **rule})
    with world.make_session.begin() as session:
        bookings.confirm(session, world.id, "b1", now=LATE - timedelta(days=5))


def test_a_job_is_planned_for_the_end_of_the_night(world: World) -> None:
    _planned(world, LATE + timedelta(hours=12))
    [job] = world.jobs()
    assert (job.due_at, job.run_at) == (LATE, MORNING)
    assert len(_sweep(world, MORNING).sent) == 1


def test_a_job_that_would_wait_for_longer_than_its_date_is_skipped(
    world: World,
) -> None:
    _planned(world, MORNING, offset_value=2)
    [job] = world.jobs()
    assert job.run_at == job.due_at == MORNING - timedelta(hours=2)
    assert _sweep(world, job.due_at).sent == []
    [job] = world.jobs()
    assert (job.state, job.reason) == (JobState.SKIPPED, Reason.QUIET_HOURS)


def test_the_lane_looks_again_when_the_rule_got_its_hours_later(world: World) -> None:
    _planned(world, LATE + timedelta(hours=12), quiet_from=None, quiet_until=None)
    _change(world, Rule, **NIGHT)
    assert _sweep(world, LATE).sent == []
    [job] = world.jobs()
    assert (job.state, job.run_at) == (JobState.PENDING, MORNING)
    assert len(_sweep(world, MORNING).sent) == 1


def test_run_now_at_night_waits_as_well(world: World) -> None:
    _planned(world, LATE + timedelta(days=3))
    _change(world, ScheduledJob, run_at=LATE)
    assert _sweep(world, LATE).sent == []
    [job] = world.jobs()
    assert job.run_at == MORNING


def test_the_night_is_that_of_the_present_timezone(world: World) -> None:
    _planned(world, LATE + timedelta(hours=12))
    with world.make_session.begin() as session:
        podcasts.save_podcast(
            session, world.id, "show", timezone="America/New_York", now=LATE
        )
    [job] = world.jobs("pending")
    assert job.run_at == job.due_at == LATE  # half past five in the afternoon


def test_overdue_reminders_of_a_night_become_one_in_the_morning(world: World) -> None:
    _planned(world, LATE + timedelta(hours=12))
    world.rule("time.before_recording", offset_value=10, **NIGHT)
    with world.make_session.begin() as session:
        bookings.reschedule(
            session, world.id, "b1", LATE + timedelta(hours=13), now=LATE
        )
    assert len(_sweep(world, MORNING).sent) == 1
    assert len(world.jobs("dispatched")) == 1


def test_rules_without_quiet_hours_cost_no_query(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed")
    _emit(world)
    with world.make_session() as session:
        rows = session.query(Execution).all()
        with statements() as seen:
            assert hushed(session, rows, {rule.id: rule}, LATE) == {}
    assert seen == []


def test_a_booking_told_another_zone_moves_its_waiting_jobs(world: World) -> None:
    _planned(world, LATE + timedelta(hours=12))
    with world.make_session.begin() as session:
        bookings.save_booking(
            session, world.id, "b1", timezone="Asia/Kathmandu", now=LATE
        )
        zone = session.get_one(Booking, (world.id, "b1")).timezone
    [job] = world.jobs("pending")
    assert (zone, job.timezone) == ("Asia/Kathmandu", "Asia/Kathmandu")
    assert job.run_at == datetime(2026, 3, 11, 1, 15, tzinfo=UTC)
