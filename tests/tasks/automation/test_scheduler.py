"""Dates become scheduled jobs, and planning again changes nothing."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, update

from tasks.automation import (
    UNSET,
    CancelResult,
    ScheduleResult,
    TimeContext,
    cancel_pending_time_based_jobs,
    reschedule_time_based_jobs_for_episode,
    schedule_time_based_jobs,
    schedule_time_based_jobs_for_booking,
    schedule_time_based_jobs_for_episode,
)
from tasks.db import congregation_session, sessions
from tasks.models import (
    BookingStatus,
    JobContext,
    JobState,
    LatePolicy,
    OffsetUnit,
    Podcast,
    Reason,
    Rule,
    ScheduledJob,
)
from tests.tasks.automation.conftest import NOW, World

IN_THREE_DAYS = NOW + timedelta(days=3)


def _plan(world: World, now: datetime = NOW, **values: Any) -> ScheduleResult:
    context = TimeContext(
        **{
            "podcast_id": "show",
            "booking_id": "b1",
            "congregation_id": world.id,
            "recording_date": IN_THREE_DAYS,
            **values,
        }
    )
    with world.make_session.begin() as session:
        return schedule_time_based_jobs(session, context, now=now)


def _cancel(world: World, **values: Any) -> CancelResult:
    of = {"congregation_id": world.id, "now": NOW, **values}
    with world.make_session.begin() as session:
        return cancel_pending_time_based_jobs(session, **of)


def _day_before(world: World, **values: Any) -> Rule:
    return world.rule("time.before_recording", **{"offset_value": 24, **values})


def test_a_booking_gets_a_job_for_every_rule_that_counts_from_its_dates(
    engine: Engine, world: World
) -> None:
    world.booking()
    before = _day_before(world)
    after = world.rule("time.after_booking", offset_value=5, offset_unit="minutes")
    world.rule("time.before_publish", offset_value=1)
    with congregation_session(engine, world.id) as session:
        result = schedule_time_based_jobs_for_booking(
            session, "b1", "show", None, "g1", IN_THREE_DAYS, NOW, None, now=NOW
        )
    assert (result.success, result.jobs_created, result.jobs_skipped) == (True, 2, 1)
    assert set(result.rule_ids) == {before.id, after.id}
    due = {job.rule_id: (job.due_at, job.timezone) for job in world.jobs("pending")}
    assert due == {
        before.id: (NOW + timedelta(days=2), "Europe/Berlin"),
        after.id: (NOW + timedelta(minutes=5), "Europe/Berlin"),
    }
    with world.make_session() as session:
        contexts = session.query(JobContext).all()
    assert {each.context["guest"]["name"] for each in contexts} == {"Ada"}
    assert "let-me-in" not in repr([each.context for each in contexts])


def test_planning_again_keeps_the_job(world: World) -> None:
    world.booking()
    _day_before(world)
    _plan(world)
    again = _plan(world, now=NOW + timedelta(hours=1))
    assert (again.jobs_created, again.jobs_skipped, again.jobs_cancelled) == (0, 1, 0)
    assert len(world.jobs()) == 1
    assert world.decisions() == [("no", "duplicate"), ("scheduled", "")]


def test_a_confirmation_that_is_repeated_later_plans_the_same(world: World) -> None:
    world.booking()
    world.rule("time.after_booking", offset_value=1)
    _plan(world, booking_date=NOW)
    later = NOW + timedelta(minutes=10)
    assert _plan(world, now=later, booking_date=later).jobs_created == 0
    assert len(world.jobs()) == 1


def test_there_and_back_again_leaves_exactly_one_living_job(world: World) -> None:
    world.booking()
    _day_before(world)
    times = [IN_THREE_DAYS, IN_THREE_DAYS + timedelta(minutes=105), IN_THREE_DAYS]
    results = [_plan(world, recording_date=at) for at in times]
    assert [result.jobs_created for result in results] == [1, 1, 1]
    [job] = world.jobs("pending")
    assert job.reference_at == IN_THREE_DAYS
    assert [job.reason for job in world.jobs("superseded")] == [Reason.SUPERSEDED] * 2


def test_a_date_left_out_stays_and_a_date_taken_away_cancels(world: World) -> None:
    world.booking()
    _day_before(world)
    _plan(world)
    assert _plan(world, recording_date=UNSET).jobs_cancelled == 0
    assert len(world.jobs("pending")) == 1
    gone = _plan(world, recording_date=None)
    assert (gone.success, gone.jobs_cancelled, gone.jobs_skipped) == (True, 1, 1)
    [job] = world.jobs("cancelled")
    assert job.reason is Reason.NO_REFERENCE_DATE
    assert ("no", "no_reference_date") in world.decisions()


def test_rescheduling_an_episode_moves_only_what_changed(
    engine: Engine, world: World
) -> None:
    world.episode()
    world.rule("time.before_publish", offset_value=48)
    world.rule("time.before_recording", offset_value=1)
    publish = NOW + timedelta(days=9)
    with congregation_session(engine, world.id) as session:
        schedule_time_based_jobs_for_episode(session, "e1", "show", publish, now=NOW)
        first = reschedule_time_based_jobs_for_episode(
            session, "e1", "show", IN_THREE_DAYS, now=NOW
        )
        second = reschedule_time_based_jobs_for_episode(
            session, "e1", "show", UNSET, publish + timedelta(days=1), now=NOW
        )
        third = reschedule_time_based_jobs_for_episode(
            session, "e1", "show", None, UNSET, now=NOW
        )
    assert (first.jobs_created, first.jobs_cancelled) == (1, 0)
    assert (second.jobs_created, second.jobs_cancelled) == (1, 1)
    assert (third.jobs_created, third.jobs_cancelled) == (0, 1)
    [job] = world.jobs("pending")
    assert job.trigger_type == "time.before_publish"
    assert job.reference_at == publish + timedelta(days=1)


def test_a_publication_is_planned_once_whether_or_not_a_booking_is_named(
    engine: Engine, world: World
) -> None:
    world.episode()
    world.booking()
    world.rule("time.before_publish", offset_value=48)
    publish = NOW + timedelta(days=9)
    with congregation_session(engine, world.id) as session:
        schedule_time_based_jobs_for_episode(session, "e1", "show", publish, now=NOW)
        reschedule_time_based_jobs_for_episode(
            session, "e1", "show", UNSET, publish, "b1", now=NOW
        )
    assert len(world.jobs("pending")) == 1


def test_a_podcast_alone_is_planned_for_and_moves_with_its_date(world: World) -> None:
    """The entity is the booking, else the episode, else the podcast."""
    _day_before(world)
    first = _plan(world, booking_id=None)
    assert (first.jobs_created, first.jobs_skipped) == (1, 0)
    again = _plan(world, booking_id=None)
    assert (again.jobs_created, again.jobs_skipped) == (0, 1)
    later = _plan(world, booking_id=None, recording_date=NOW + timedelta(days=5))
    assert (later.jobs_created, later.jobs_cancelled) == (1, 1)
    [job] = world.jobs("pending")
    assert (job.booking_id, job.episode_id, job.podcast_id) == (None, None, "show")
    assert ":podcast/show:2026-03-15T12:00:00Z:" in job.idempotency_key


def test_a_reminder_whose_time_had_passed_is_kept_as_skipped(world: World) -> None:
    world.booking()
    _day_before(world)
    soon = NOW + timedelta(hours=2)
    result = _plan(world, recording_date=soon)
    assert (result.jobs_created, result.jobs_skipped) == (0, 1)
    [job] = world.jobs()
    assert (job.state, job.reason) == (JobState.SKIPPED, Reason.OFFSET_IN_PAST)
    assert job.due_at == soon - timedelta(hours=24)
    _plan(world, recording_date=soon)
    assert len(world.jobs()) == 1


def test_a_rule_that_says_send_now_runs_at_once_and_only_once(world: World) -> None:
    world.booking()
    _day_before(world, late_policy=LatePolicy.SEND_NOW)
    soon = NOW + timedelta(hours=2)
    assert _plan(world, recording_date=soon).jobs_created == 1
    assert (
        _plan(world, NOW + timedelta(minutes=1), recording_date=soon).jobs_created == 0
    )
    [job] = world.jobs("pending")
    assert (job.due_at, job.run_at) == (NOW, NOW)
    with world.make_session.begin() as session:
        session.execute(update(ScheduledJob).values(state=JobState.DISPATCHED))
    assert (
        _plan(world, NOW + timedelta(minutes=2), recording_date=soon).jobs_created == 0
    )


@pytest.mark.parametrize(("hours", "state"), [(20, "pending"), (30, "skipped")])
def test_an_after_rule_planned_late_runs_within_a_day(
    world: World, hours: int, state: str
) -> None:
    world.booking()
    world.rule("time.after_recording", offset_value=1)
    _plan(world, recording_date=NOW - timedelta(hours=hours))
    assert [job.state for job in world.jobs()] == [JobState(state)]


def test_a_changed_offset_makes_another_job(world: World) -> None:
    world.booking()
    rule = _day_before(world)
    _plan(world)
    with world.make_session.begin() as session:
        session.get_one(Rule, rule.id).offset_value = 48
    assert _plan(world).jobs_created == 1
    [job] = world.jobs("pending")
    assert job.due_at == IN_THREE_DAYS - timedelta(hours=48)


def test_another_timezone_moves_calendar_days(world: World) -> None:
    world.booking(start_time=datetime(2026, 3, 30, 8, 0, tzinfo=UTC))
    _day_before(world, offset_value=2, offset_unit=OffsetUnit.DAYS)
    date = datetime(2026, 3, 30, 8, 0, tzinfo=UTC)
    _plan(world, recording_date=date, timezone="Europe/Berlin")
    _plan(world, recording_date=date, timezone="UTC")
    [job] = world.jobs("pending")
    assert job.due_at == datetime(2026, 3, 28, 8, 0, tzinfo=UTC)
    [old] = world.jobs("superseded")
    assert old.due_at == datetime(2026, 3, 28, 9, 0, tzinfo=UTC)


def test_rules_that_are_off_or_of_another_podcast_say_so(world: World) -> None:
    world.booking()
    _day_before(world, enabled=False)
    _day_before(world, podcast_id="other")
    _day_before(world, deleted_at=NOW)
    result = _plan(world)
    assert (result.jobs_created, result.jobs_skipped) == (0, 0)
    assert world.decisions() == [("no", "out_of_scope"), ("no", "rule_disabled")]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"podcast_id": "nowhere"}, "unknown_podcast"),
        ({"booking_id": "b9"}, "unknown_booking"),
        ({"episode_id": "e9"}, "unknown_episode"),
        ({"podcast_id": "other"}, "podcast_mismatch"),
        ({"recording_date": NOW.replace(tzinfo=None)}, "naive_datetime"),
        ({"recording_date": "soon"}, "bad_date"),
        ({"timezone": "Mars/Olympus"}, "unknown_timezone"),
        ({"congregation_id": None}, "no_congregation"),
    ],
)
def test_what_is_wrong_is_answered_and_nothing_is_written(
    world: World, values: dict[str, Any], code: str
) -> None:
    world.booking()
    _day_before(world)
    result = _plan(world, **values)
    assert (result.success, result.error_code) == (False, code)
    assert not world.jobs()
    assert not world.decisions()


def test_pending_jobs_are_cancelled_by_booking_episode_or_podcast(world: World) -> None:
    _day_before(world)
    world.episode()
    for name in ("b1", "b2", "b3"):
        world.booking(name, episode_id="e1" if name == "b2" else None)
        _plan(world, booking_id=name)
    for values, n in (
        ({"booking_id": "b1"}, 1),
        ({"booking_id": "b1"}, 0),
        ({"episode_id": "e1"}, 1),
        ({"podcast_id": "other"}, 0),
        ({"podcast_id": "show", "booking_id": "b2"}, 0),
        ({"podcast_id": "show"}, 1),
    ):
        assert _cancel(world, **values) == CancelResult(True, jobs_cancelled=n)
    assert {job.reason for job in world.jobs("cancelled")} == {Reason.PRODUCER}


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, "entity_required"),
        ({"booking_id": ""}, "bad_id"),
        ({"podcast_id": 7}, "bad_id"),
        ({"booking_id": "b1", "congregation_id": None}, "no_congregation"),
    ],
)
def test_a_cancelling_that_is_wrong_is_answered_and_cancels_nothing(
    world: World, values: dict[str, Any], code: str
) -> None:
    world.booking()
    _day_before(world)
    _plan(world)
    result = _cancel(world, **values)
    assert (result.success, result.jobs_cancelled) == (False, 0)
    assert (result.error_code, bool(result.error)) == (code, True)
    assert len(world.jobs("pending")) == 1


def test_a_cancelling_that_breaks_leaves_the_callers_work_alone(
    engine: Engine, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.booking()
    _day_before(world)
    _plan(world)

    def explode(*args: Any) -> None:
        if args[2].startswith("UPDATE scheduled_jobs"):
            raise RuntimeError("boom")

    event.listen(engine, "before_cursor_execute", explode)
    with world.make_session.begin() as session:
        session.add(Podcast(congregation_id=world.id, id="mine", title="Mine"))
        result = cancel_pending_time_based_jobs(
            session, booking_id="b1", congregation_id=world.id
        )
    assert (result.success, result.error_code) == (False, "internal_error")
    assert "producer_failed" in caplog.text
    assert len(world.jobs("pending")) == 1
    assert {row.id for row in world.all(Podcast)} == {"show", "other", "mine"}


def test_jobs_of_another_congregation_are_left_alone(world: World, twin: World) -> None:
    for each in (world, twin):
        each.booking()
        _day_before(each)
        _plan(each)
    assert _cancel(world, booking_id="b1").jobs_cancelled == 1
    assert len(twin.jobs("pending")) == 1


def test_two_planners_racing_make_one_job(engine: Engine, world: World) -> None:
    world.booking(status=BookingStatus.CONFIRMED)
    _day_before(world)
    barrier = threading.Barrier(4)
    results: list[ScheduleResult] = []

    def plan() -> None:
        barrier.wait()
        context = TimeContext(
            "show",
            booking_id="b1",
            recording_date=IN_THREE_DAYS,
            congregation_id=world.id,
        )
        for _ in range(4):
            with sessions(engine).begin() as session:
                results.append(schedule_time_based_jobs(session, context, now=NOW))

    threads = [threading.Thread(target=plan) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result.success for result in results)
    assert sum(result.jobs_created for result in results) == 1
    assert len(world.jobs()) == 1
