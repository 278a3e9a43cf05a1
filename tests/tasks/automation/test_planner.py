"""After any history the pending jobs are exactly those that the dates ask for."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from tasks.automation import bookings, podcasts
from tasks.automation.keys import Ids
from tasks.automation.lateness import due_at
from tasks.automation.planner import Existing, Plan, Subject, plan
from tasks.automation.results import UNSET
from tasks.errors import Conflict
from tasks.models import (
    Booking,
    BookingStatus,
    JobState,
    OffsetUnit,
    Podcast,
    Reason,
    Rule,
    ScheduledJob,
    new_id,
)
from tests.tasks.automation.conftest import NOW, World

START = NOW + timedelta(days=30)


@pytest.mark.parametrize("seed", range(6))
def test_any_history_ends_in_the_jobs_that_should_be(world: World, seed: int) -> None:
    chance = random.Random(seed)
    rules = [
        world.rule("time.before_recording", offset_value=24),
        world.rule("time.before_recording", offset_value=2, offset_unit="days"),
        world.rule("time.after_recording", offset_value=90, offset_unit="minutes"),
        world.rule("time.after_booking", offset_value=5, offset_unit="days"),
        world.rule("time.before_recording", offset_value=1, podcast_id="other"),
    ]
    world.booking(status="requested", start_time=START, confirmed_at=None)
    now = NOW
    for _ in range(25):
        now += timedelta(minutes=chance.randint(0, 90))
        with world.make_session.begin() as session:
            _step(chance)(session, world, now)
        _check(world, rules)


Step = Callable[[Session, World, datetime], object]


def _step(chance: random.Random) -> Step:
    start = START + timedelta(minutes=15 * chance.randint(0, 3))
    zone = chance.choice(["Europe/Berlin", "Asia/Kathmandu", None])
    steps: list[Step] = [
        lambda s, w, now: bookings.confirm(s, w.id, "b1", now=now),
        lambda s, w, now: bookings.cancel(s, w.id, "b1", now=now),
        lambda s, w, now: _move(s, w, start, now),
        lambda s, w, now: _move(s, w, start, now),
        lambda s, w, now: bookings.save_booking(s, w.id, "b1", timezone=zone, now=now),
        lambda s, w, now: podcasts.save_podcast(
            s, w.id, "show", timezone=zone, now=now
        ),
        lambda s, w, now: bookings.save_booking(s, w.id, "b1", guest_id="g1", now=now),
    ]
    return chance.choice(steps)


def _move(session: Session, world: World, start: datetime, now: datetime) -> None:
    try:
        bookings.reschedule(session, world.id, "b1", start, now=now)
    except Conflict:
        return


def _check(world: World, rules: list[Rule]) -> None:
    with world.make_session() as session:
        booking = session.get_one(Booking, (world.id, "b1"))
        pending = session.query(ScheduledJob).filter_by(state=JobState.PENDING).all()
        zone = _zone(session, world, booking)
    wanted = set()
    if booking.status is BookingStatus.CONFIRMED and booking.confirmed_at:
        for rule in rules[:4]:
            is_booked = rule.trigger_type == "time.after_booking"
            date = booking.confirmed_at if is_booked else booking.start_time
            wanted.add((rule.id, date, due_at(rule, date, zone)))
    assert {(job.rule_id, job.reference_at, job.due_at) for job in pending} == wanted
    assert len(pending) == len(wanted)


def _zone(session: Session, world: World, booking: Booking) -> str:
    podcast = session.get_one(Podcast, (world.id, "show"))
    return booking.timezone or podcast.timezone or "Europe/Berlin"


RULE = Rule(
    id=new_id(),
    trigger_type="time.before_recording",
    offset_value=24,
    offset_unit=OffsetUnit.HOURS,
    enabled=True,
    late_policy="skip",
)
SUBJECT = Subject(
    new_id(), Ids("show", booking_id="b1"), {"recording": START}, "Europe/Berlin"
)


def _existing(made: Plan, state: JobState, **values: object) -> Existing:
    [wanted] = made.wanted
    defaults = {
        "id": new_id(),
        "rule_id": RULE.id,
        "trigger_type": RULE.trigger_type,
        "ids": SUBJECT.ids,
        "key": wanted.key,
        "due_at": wanted.due_at,
        "run_at": wanted.run_at,
        "timezone": SUBJECT.timezone,
        "state": state,
    }
    return Existing(**{**defaults, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "n_wanted"),
    [
        (JobState.PENDING, 0),
        (JobState.DISPATCHED, 0),
        (JobState.MISSED, 0),
        (JobState.SKIPPED, 1),
        (JobState.CANCELLED, 1),
        (JobState.SUPERSEDED, 1),
    ],
)
def test_what_was_done_is_not_planned_again_but_what_was_stopped_is(
    state: JobState, n_wanted: int
) -> None:
    first = plan(SUBJECT, [RULE], [], now=NOW)
    again = plan(SUBJECT, [RULE], [_existing(first, state)], now=NOW)
    assert len(again.wanted) == n_wanted
    assert [no.reason for no in again.noes] == [Reason.DUPLICATE] * (1 - n_wanted)
    assert again.ended == {}


def test_a_job_for_another_guest_is_replaced() -> None:
    first = plan(SUBJECT, [RULE], [], now=NOW)
    old = _existing(first, JobState.PENDING, ids=Ids("show", None, "b1", "g2"))
    again = plan(SUBJECT, [RULE], [old], now=NOW)
    assert again.ended == {old.id: Reason.SUPERSEDED}
    assert len(again.wanted) == 1


def test_an_overdue_job_stays_for_the_lane_to_judge() -> None:
    first = plan(SUBJECT, [RULE], [], now=NOW)
    old = _existing(first, JobState.PENDING)
    late = START - timedelta(hours=20)
    again = plan(SUBJECT, [RULE], [old], now=late)
    assert (again.wanted, again.ended) == ([], {})


def test_a_date_that_is_not_talked_about_changes_nothing() -> None:
    silent = Subject(SUBJECT.congregation_id, SUBJECT.ids, {"recording": UNSET}, "UTC")
    first = plan(SUBJECT, [RULE], [], now=NOW)
    made = plan(silent, [RULE], [_existing(first, JobState.PENDING)], now=NOW)
    assert (made.wanted, made.noes, made.ended, made.n_undated) == ([], [], {}, 1)
