"""The last look: what must not go ahead any more, and why."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, delete, event, select, update

from tasks.automation.guard import why_not
from tasks.automation.triggers import TRIGGERS
from tasks.models import (
    Booking,
    BookingStatus,
    Episode,
    EpisodeStatus,
    Execution,
    Reason,
    Rule,
    ScheduledJob,
    new_id,
)
from tests.tasks.automation.conftest import NOW, World


def _execution(world: World, trigger: str, **values: Any) -> None:
    rule = values.pop("rule", None) or world.rule(trigger)
    world.add(
        Execution(
            congregation_id=world.id,
            rule_id=rule.id,
            rule_version=1,
            trigger_type=trigger,
            action="email",
            podcast_id="show",
            idempotency_key=str(new_id()),
            due_at=NOW,
            run_at=NOW,
            **values,
        )
    )


def _job(world: World, trigger: str, **values: Any) -> ScheduledJob:
    rule = world.rule(trigger)
    job: ScheduledJob = world.add(
        ScheduledJob(
            congregation_id=world.id,
            rule_id=rule.id,
            rule_version=1,
            trigger_type=trigger,
            podcast_id="show",
            idempotency_key=str(new_id()),
            timezone="UTC",
            run_at=NOW,
            **{"due_at": NOW, "reference_at": NOW + timedelta(hours=1), **values},
        )
    )
    return job


def _reasons(world: World, model: type[Any] = Execution) -> list[Reason]:
    with world.make_session() as session:
        rows = session.scalars(select(model).where(model.congregation_id == world.id))
        return list(why_not(session, rows.all(), now=NOW).values())


@pytest.mark.parametrize("trigger", list(TRIGGERS))
def test_what_is_as_it_was_may_go_ahead(world: World, trigger: str) -> None:
    world.booking()
    world.episode(status=EpisodeStatus.SCHEDULED)
    _execution(world, trigger, booking_id="b1", episode_id="e1")
    assert _reasons(world) == []


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"enabled": False}, Reason.RULE_DISABLED),
        ({"deleted_at": NOW}, Reason.RULE_DELETED),
        ({"podcast_ids": ["other"]}, Reason.OUT_OF_SCOPE),
    ],
)
def test_a_rule_that_does_not_apply_any_more_stops_it(
    world: World, values: dict[str, Any], reason: Reason
) -> None:
    _execution(world, "guest.responded")
    with world.make_session.begin() as session:
        session.execute(update(Rule).values(**values))
    assert _reasons(world) == [reason]


@pytest.mark.parametrize(
    ("trigger", "status", "reason"),
    [
        ("booking.confirmed", "cancelled", Reason.BOOKING_CANCELLED),
        ("booking.confirmed", "declined", Reason.NOT_CONFIRMED),
        ("booking.confirmed", "requested", None),
        ("booking.rescheduled", "cancelled", Reason.BOOKING_CANCELLED),
        ("booking.canceled", "cancelled", None),
        ("booking.declined", "declined", None),
        ("time.before_recording", "cancelled", Reason.BOOKING_CANCELLED),
        ("time.before_recording", "requested", Reason.NOT_CONFIRMED),
        ("time.after_recording", "declined", Reason.NOT_CONFIRMED),
        ("time.after_booking", "cancelled", Reason.BOOKING_CANCELLED),
        ("guest.responded", "cancelled", None),
    ],
)
def test_a_booking_that_does_not_take_place_stops_what_needs_it(
    world: World, trigger: str, status: str, reason: Reason | None
) -> None:
    world.booking(status=BookingStatus(status))
    _execution(world, trigger, booking_id="b1")
    assert _reasons(world) == [reason] * (reason is not None)


def test_records_that_are_gone_stop_it(world: World) -> None:
    world.booking()
    world.episode()
    _execution(world, "booking.confirmed", booking_id="b1")
    _execution(world, "episode.published", episode_id="e1")
    with world.make_session.begin() as session:
        session.execute(delete(Booking))
        session.execute(delete(Episode))
    assert _reasons(world) == [Reason.BOOKING_GONE] * 2


def test_a_draft_without_a_date_stops_what_counts_from_its_publication(
    world: World,
) -> None:
    world.episode()
    _job(world, "time.before_publish", episode_id="e1")
    assert _reasons(world, ScheduledJob) == [Reason.NOT_PUBLISHED]


def test_a_reminder_never_follows_what_it_announces(world: World) -> None:
    world.booking(start_time=NOW)
    job = _job(
        world,
        "time.before_recording",
        booking_id="b1",
        due_at=NOW - timedelta(hours=1),
        reference_at=NOW,
    )
    _execution(world, "time.before_recording", booking_id="b1", scheduled_job_id=job.id)
    assert _reasons(world) == [Reason.TOO_LATE]


def test_what_is_due_at_the_start_itself_may_go_ahead(world: World) -> None:
    world.booking(start_time=NOW)
    job = _job(world, "time.before_recording", booking_id="b1", reference_at=NOW)
    _execution(world, "time.before_recording", booking_id="b1", scheduled_job_id=job.id)
    assert _reasons(world) == []


def test_a_booking_of_the_same_id_elsewhere_does_not_count(
    world: World, twin: World
) -> None:
    world.booking()
    twin.booking(status=BookingStatus.CANCELLED)
    _execution(world, "booking.confirmed", booking_id="b1")
    _execution(twin, "booking.confirmed", booking_id="b1")
    assert _reasons(world) == []
    assert _reasons(twin) == [Reason.BOOKING_CANCELLED]


def test_many_rows_need_no_more_queries_than_one(engine: Engine, world: World) -> None:
    rule = world.rule("booking.confirmed")
    for n in range(40):
        world.booking(f"b{n}")
        _execution(world, "booking.confirmed", booking_id=f"b{n}", rule=rule)
    seen: list[str] = []
    with world.make_session() as session:
        rows = session.scalars(select(Execution)).all()
        event.listen(engine, "before_cursor_execute", lambda *a: seen.append(a[2]))
        assert why_not(session, rows, now=NOW) == {}
        assert why_not(session, [], now=NOW) == {}
    assert len(seen) <= 4
