"""Another timezone of a congregation or podcast moves what goes by local time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tasks.automation import bookings, podcasts
from tasks.automation.replan import plan_coming
from tasks.automation.scheduler import TimeContext, schedule_time_based_jobs
from tasks.lanes import replanning
from tasks.models import Booking, BookingStatus, Congregation, JobState, OffsetUnit
from tasks.operations.audit import Actor
from tasks.operations.congregations import CongregationChange, edit_congregation
from tests.support.fakes import FakePost, bench
from tests.support.statements import statements
from tests.tasks.automation.conftest import NOW, World

START = datetime(2026, 3, 20, 18, 0, tzinfo=UTC)
EVE: dict[str, Any] = {
    "offset_value": 1,
    "offset_unit": OffsetUnit.DAYS,
    "offset_at": "18:00",
}
#: 18:00 on the eve, in three places.
BERLIN = datetime(2026, 3, 19, 17, 0, tzinfo=UTC)
NEW_YORK = datetime(2026, 3, 19, 22, 0, tzinfo=UTC)
KATHMANDU = datetime(2026, 3, 19, 12, 15, tzinfo=UTC)


def _book(world: World, id_: str = "b1", **values: Any) -> None:
    defaults = {"start_time": START, "status": "requested", "confirmed_at": None}
    world.booking(id_, **{**defaults, **values})
    with world.make_session.begin() as session:
        bookings.confirm(session, world.id, id_, now=NOW)


def _move_house(world: World, zone: str) -> None:
    with world.make_session.begin() as session:
        house = session.get_one(Congregation, world.id)
        change = CongregationChange(house.slug, house.name, "en", zone)
        actor = Actor("ada@example.org")
        assert edit_congregation(session, world.id, change, actor, now=NOW)


def _move_podcast(world: World, zone: str | None) -> None:
    with world.make_session.begin() as session:
        podcasts.save_podcast(session, world.id, "show", timezone=zone, now=NOW)


def _due(world: World) -> list[datetime]:
    return sorted(job.due_at for job in world.jobs("pending"))


def test_a_congregation_that_moves_takes_its_calendar_days_along(world: World) -> None:
    world.rule("time.before_recording", **EVE)
    _book(world)
    assert _due(world) == [BERLIN]
    _move_house(world, "America/New_York")
    assert _due(world) == [NEW_YORK]
    [old] = world.jobs("superseded")
    assert old.due_at == BERLIN


def test_a_podcast_that_moves_there_and_back_leaves_one_job(world: World) -> None:
    world.rule("time.before_recording", **EVE)
    _book(world)
    _move_podcast(world, "Asia/Kathmandu")
    assert _due(world) == [KATHMANDU]
    _move_podcast(world, None)
    assert _due(world) == [BERLIN]


def test_who_has_a_timezone_of_their_own_is_left_alone(world: World) -> None:
    world.rule("time.before_recording", **EVE)
    _book(world, timezone="Asia/Kathmandu")
    _book(world, "b2", podcast_id="other")
    _move_podcast(world, "America/New_York")
    assert _due(world) == [KATHMANDU, BERLIN]
    _move_house(world, "America/New_York")
    assert _due(world) == [KATHMANDU, NEW_YORK]


def test_hours_keep_their_instant_and_learn_the_timezone(world: World) -> None:
    world.rule("time.before_recording", offset_value=24)
    _book(world)
    _move_house(world, "Asia/Kathmandu")
    [job] = world.jobs()
    assert (job.state, job.timezone) == (JobState.PENDING, "Asia/Kathmandu")
    assert job.due_at == START - timedelta(hours=24)


def test_a_timezone_that_the_producer_told_stays(world: World) -> None:
    world.rule("time.before_recording", **EVE)
    world.booking(start_time=START)
    context = TimeContext(
        "show",
        booking_id="b1",
        recording_date=START,
        timezone="Asia/Kathmandu",
        congregation_id=world.id,
    )
    with world.make_session.begin() as session:
        assert schedule_time_based_jobs(session, context, now=NOW).success
    _move_house(world, "America/New_York")
    assert _due(world) == [KATHMANDU]


def test_the_jobs_of_a_rule_that_is_off_move_as_well(world: World) -> None:
    rule = world.rule("time.before_recording", **EVE)
    _book(world)
    with world.make_session.begin() as session:
        session.merge(rule).enabled = False
    _move_house(world, "America/New_York")
    assert _due(world) == [NEW_YORK]


def test_a_rule_that_has_not_begun_with_a_booking_does_not_begin_now(
    world: World,
) -> None:
    _book(world)
    world.rule("time.before_recording", **EVE)
    _move_house(world, "America/New_York")
    assert world.jobs() == []


def _fill(world: World, n_bookings: int) -> None:
    rule = world.rule("time.before_recording", **EVE)
    with world.make_session.begin() as session:
        session.add_all(_booking(world, number) for number in range(n_bookings))
        session.flush()
        plan_coming(session, session.merge(rule), now=NOW)


@pytest.mark.parametrize("move", [_move_house, _move_podcast])
def test_many_jobs_are_left_to_the_lane(
    world: World, move: Callable[[World, str], None]
) -> None:
    _fill(world, 1_100)
    with statements() as seen:
        move(world, "America/New_York")
    assert set(_due(world)) == {BERLIN}
    assert len(seen) < 15
    worker = bench(world.make_session, lambda: NOW, FakePost())
    with statements() as seen:
        while replanning.sweep(worker, 500).is_full:
            pass
    assert set(_due(world)) == {NEW_YORK}
    assert len(world.jobs("pending")) == len(world.jobs("superseded")) == 1_100
    assert len(seen) < 200


def _booking(world: World, number: int) -> Booking:
    return Booking(
        congregation_id=world.id,
        id=f"b{number}",
        podcast_id="show",
        start_time=START,
        status=BookingStatus.CONFIRMED,
        confirmed_at=NOW,
    )
