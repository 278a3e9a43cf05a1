"""Many jobs follow their congregation or podcast to another timezone, in the lane."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from tasks.automation import bookings, podcasts, zone_moves
from tasks.automation.zone_moves import is_moving, work_off
from tasks.lane import Bench
from tasks.lanes import replanning, scheduled_jobs
from tasks.models import (
    Congregation,
    JobState,
    Measure,
    OffsetUnit,
    Rule,
    ScheduledJob,
)
from tasks.models.replan import ZoneMove
from tasks.operations.audit import Actor
from tasks.operations.congregations import CongregationChange, edit_congregation
from tests.support.counted import counted
from tests.support.fakes import FakePost, bench
from tests.tasks.automation.conftest import NOW, World

START = datetime(2026, 3, 20, 18, 0, tzinfo=UTC)
#: 18:00 on the eve, as clocks show it in three places.
BERLIN = datetime(2026, 3, 19, 17, 0, tzinfo=UTC)
NEW_YORK = datetime(2026, 3, 19, 22, 0, tzinfo=UTC)
KATHMANDU = datetime(2026, 3, 19, 12, 15, tzinfo=UTC)
EVE: dict[str, Any] = {
    "offset_value": 1,
    "offset_unit": OffsetUnit.DAYS,
    "offset_at": "18:00",
}
LATER = NOW + timedelta(minutes=5)
N_JOBS = 5


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three jobs be too many for one request."""
    monkeypatch.setattr(zone_moves, "AT_ONCE_MAX", 3)


@pytest.fixture
def rule(world: World) -> Rule:
    """Return a rule that goes by local time, with jobs."""
    made = world.rule("time.before_recording", **EVE)
    for number in range(N_JOBS):
        _book(world, f"b{number}")
    assert _due(world) == [BERLIN] * N_JOBS
    return made


def _book(world: World, id_: str, **values: Any) -> None:
    told = {"start_time": START, "status": "requested", "confirmed_at": None}
    world.booking(id_, **{**told, **values})
    with world.make_session.begin() as session:
        bookings.confirm(session, world.id, id_, now=NOW)


def _move(world: World, zone: str, now: datetime = NOW) -> None:
    with world.make_session.begin() as session:
        house = session.get_one(Congregation, world.id)
        change = CongregationChange(house.slug, house.name, "en", zone)
        edit_congregation(session, world.id, change, Actor("ada@x.org"), now=now)


def _move_podcast(world: World, zone: str | None, now: datetime = NOW) -> None:
    with world.make_session.begin() as session:
        podcasts.save_podcast(session, world.id, "show", timezone=zone, now=now)


def _bench(world: World, now: datetime = LATER) -> Bench:
    return bench(world.make_session, lambda: now, FakePost())


def _drain(world: World, limit: int = 2) -> int:
    """Sweep until nothing is left; return how many sweeps that took."""
    n_sweeps = 0
    while replanning.sweep(_bench(world), limit).is_full:
        n_sweeps += 1
        assert n_sweeps < 50
    return n_sweeps


def _due(world: World) -> list[datetime]:
    return sorted(job.due_at for job in world.jobs("pending"))


def _is_moving(world: World) -> bool:
    with world.make_session() as session:
        return is_moving(session, world.id)


@pytest.mark.usefixtures("rule")
def test_many_jobs_move_in_pieces_after_the_saving(world: World) -> None:
    _move(world, "America/New_York")
    assert _due(world) == [BERLIN] * N_JOBS
    assert _is_moving(world)
    with world.make_session() as session:
        waiting = replanning.backlog(session, LATER)
    assert (waiting.n_due, waiting.oldest_due_at) == (1, NOW)

    assert _drain(world) == 3  # 2 + 2 + 1
    assert _due(world) == [NEW_YORK] * N_JOBS
    assert {job.timezone for job in world.jobs("pending")} == {"America/New_York"}
    assert len(world.jobs("superseded")) == N_JOBS
    assert not _is_moving(world)
    # Each was ended and made anew, five minutes after the change.
    assert counted(world.make_session, "replanning") == {
        Measure.SUCCEEDED: 2 * N_JOBS,
        Measure.WAIT + 13: 2 * N_JOBS,
    }


def _die_in_a_piece(world: World) -> None:
    with world.make_session.begin() as session:
        done, _ = work_off(session, session.scalars(select(ZoneMove)).one(), limit=2)
        assert done.n_created == 2
        raise KeyboardInterrupt


@pytest.mark.usefixtures("rule")
def test_a_worker_that_dies_within_a_piece_loses_no_job(world: World) -> None:
    _move(world, "America/New_York")
    replanning.sweep(_bench(world), 2)
    with pytest.raises(KeyboardInterrupt):
        _die_in_a_piece(world)
    _drain(world)
    assert _due(world) == [NEW_YORK] * N_JOBS


@pytest.mark.usefixtures("rule")
def test_the_last_of_several_moves_counts(world: World) -> None:
    _move(world, "America/New_York")
    replanning.sweep(_bench(world), 2)
    _move(world, "Asia/Kathmandu", now=NOW + timedelta(minutes=1))
    _drain(world)
    assert _due(world) == [KATHMANDU] * N_JOBS
    _move(world, "America/New_York", now=LATER)
    _move(world, "Asia/Kathmandu", now=LATER)
    _drain(world)
    assert _due(world) == [KATHMANDU] * N_JOBS
    assert not _is_moving(world)


@pytest.mark.usefixtures("rule")
def test_who_has_a_timezone_of_their_own_is_left_alone(world: World) -> None:
    with world.make_session.begin() as session:
        podcasts.save_podcast(
            session, world.id, "other", timezone="Europe/Berlin", now=NOW
        )
    _book(world, "own", podcast_id="other")
    _move(world, "America/New_York")
    _drain(world)
    assert _due(world) == [BERLIN, *[NEW_YORK] * N_JOBS]


@pytest.mark.usefixtures("rule")
def test_what_is_booked_meanwhile_goes_by_the_new_clock_at_once(world: World) -> None:
    _move(world, "America/New_York")
    _book(world, "new")
    assert _due(world) == [BERLIN] * N_JOBS + [NEW_YORK]
    _drain(world)
    assert _due(world) == [NEW_YORK] * (N_JOBS + 1)


@pytest.mark.usefixtures("rule")
def test_a_job_that_comes_due_before_its_turn_is_moved_instead_of_sent(
    world: World,
) -> None:
    _move(world, "America/New_York")
    swept = scheduled_jobs.sweep(_bench(world, BERLIN), 10)
    assert swept.dispatched == ()
    assert _due(world) == [NEW_YORK] * N_JOBS
    assert len(scheduled_jobs.sweep(_bench(world, NEW_YORK), 10).dispatched) == N_JOBS


def test_what_keeps_its_instant_goes_out_on_time_while_others_move(
    world: World,
) -> None:
    world.rule("time.before_recording", offset_value=24)
    for number in range(N_JOBS):
        _book(world, f"b{number}")
    _move(world, "America/New_York")
    due = START - timedelta(hours=24)
    assert len(scheduled_jobs.sweep(_bench(world, due), 10).dispatched) == N_JOBS
    assert {job.timezone for job in world.jobs()} == {"America/New_York"}


def test_a_slow_lane_costs_nobody_a_reminder(world: World) -> None:
    world.rule("time.before_recording", **EVE)
    for number in range(N_JOBS):
        _book(world, f"b{number}")
    # In Kathmandu it is due one minute after the change, before the lane's turn.
    _move(world, "Asia/Kathmandu", now=KATHMANDU - timedelta(minutes=1))
    worker = _bench(world, KATHMANDU + timedelta(minutes=4))
    while replanning.sweep(worker, 2).is_full:
        pass
    assert _due(world) == [KATHMANDU] * N_JOBS


def test_jobs_of_a_deleted_rule_hold_nobody_up(world: World, rule: Rule) -> None:
    with world.make_session.begin() as session:
        session.get_one(Rule, rule.id).deleted_at = NOW
    _move(world, "America/New_York")
    _drain(world)
    assert not _is_moving(world)
    jobs = world.all(ScheduledJob)
    assert {job.state for job in jobs} == {JobState.PENDING}
    assert {job.due_at for job in jobs} == {BERLIN}


@pytest.mark.usefixtures("rule")
def test_many_jobs_of_a_podcast_move_in_pieces_after_the_saving(world: World) -> None:
    _book(world, "other", podcast_id="other")
    _move_podcast(world, "America/New_York")
    assert _due(world) == [BERLIN] * (N_JOBS + 1)
    with world.make_session() as session:
        assert is_moving(session, world.id, "show")
        assert not is_moving(session, world.id, "other")
        assert not is_moving(session, world.id)
        assert replanning.backlog(session, LATER).n_due == 1
    assert _drain(world) == 3  # 2 + 2 + 1
    assert _due(world) == [BERLIN, *[NEW_YORK] * N_JOBS]
    assert len(world.jobs("superseded")) == N_JOBS
    with world.make_session() as session:
        assert not is_moving(session, world.id, "show")


@pytest.mark.usefixtures("rule")
def test_few_jobs_of_a_podcast_move_at_once_beside_many_others(world: World) -> None:
    _book(world, "own", podcast_id="other")
    with world.make_session.begin() as session:
        podcasts.save_podcast(
            session, world.id, "other", timezone="America/New_York", now=NOW
        )
        assert not is_moving(session, world.id, "other")
    assert _due(world) == [BERLIN] * N_JOBS + [NEW_YORK]


@pytest.mark.usefixtures("rule")
def test_the_last_of_a_podcasts_moves_counts(world: World) -> None:
    _move_podcast(world, "America/New_York")
    replanning.sweep(_bench(world), 2)
    _move_podcast(world, "Asia/Kathmandu", now=NOW + timedelta(minutes=1))
    _drain(world)
    assert _due(world) == [KATHMANDU] * N_JOBS
    _move_podcast(world, None, now=LATER)
    _move_podcast(world, "Asia/Kathmandu", now=LATER)
    _move_podcast(world, None, now=LATER)
    _drain(world)
    assert _due(world) == [BERLIN] * N_JOBS


@pytest.mark.usefixtures("rule")
def test_a_podcast_and_its_congregation_may_move_at_the_same_time(world: World) -> None:
    _move(world, "America/New_York")
    _move_podcast(world, "Asia/Kathmandu")
    with world.make_session() as session:
        assert len(session.scalars(select(ZoneMove)).all()) == 2
    _drain(world)
    assert _due(world) == [KATHMANDU] * N_JOBS
    _move_podcast(world, None)
    _move(world, "Europe/Berlin")
    _drain(world)
    assert _due(world) == [BERLIN] * N_JOBS


@pytest.mark.usefixtures("rule")
def test_a_podcasts_job_that_comes_due_before_its_turn_is_moved_too(
    world: World,
) -> None:
    _book(world, "other", podcast_id="other")
    _move_podcast(world, "America/New_York")
    swept = scheduled_jobs.sweep(_bench(world, BERLIN), 10)
    assert len(swept.dispatched) == 1  # the other podcast's
    assert _due(world) == [NEW_YORK] * N_JOBS
