"""The verbs of episodes, guests, podcasts and booking links."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tasks.automation import bookings, episodes, podcasts
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import OffsetUnit, Reason
from tests.tasks.automation.conftest import NOW, World

PUBLISH = NOW + timedelta(days=9)


def _do(world: World, verb: Callable[..., Any], *args: Any, **values: Any) -> Any:
    with world.make_session.begin() as session:
        return verb(session, world.id, *args, now=NOW, **values)


def _rules(world: World) -> None:
    for name in ("draft_created", "scheduled", "published"):
        world.rule(f"episode.{name}")
    world.rule("time.before_publish", offset_value=48)
    world.rule("time.after_publish", offset_value=1)


def _fired(world: World) -> list[str]:
    return [execution.trigger_type for execution in world.executions()]


def _references(world: World) -> dict[str, datetime]:
    return {job.trigger_type: job.reference_at for job in world.jobs("pending")}


def test_a_new_episode_is_a_draft_and_says_so_once(world: World) -> None:
    _rules(world)
    new = _do(world, episodes.save_episode, "e1", podcast_id="show", title="Bells")
    assert (new.created, new.row.status) == (True, "draft")
    assert not _do(world, episodes.save_episode, "e1", title="Bells").changed
    assert _do(world, episodes.save_episode, "e1", title="Chimes").changed
    assert _fired(world) == ["episode.draft_created"]
    assert not world.jobs()


def test_scheduling_plans_and_another_date_moves(world: World) -> None:
    _rules(world)
    world.episode()
    done = _do(world, episodes.schedule, "e1", PUBLISH)
    assert (done.row.status, done.schedule.jobs_created) == ("scheduled", 2)
    assert not _do(world, episodes.schedule, "e1", PUBLISH).changed
    later = PUBLISH + timedelta(days=1)
    assert _do(world, episodes.schedule, "e1", later).schedule.jobs_cancelled == 2
    assert _fired(world) == ["episode.scheduled"] * 2
    assert set(_references(world).values()) == {later}


def test_a_date_that_is_taken_away_makes_it_a_draft_again(world: World) -> None:
    _rules(world)
    world.episode()
    _do(world, episodes.schedule, "e1", PUBLISH)
    done = _do(world, episodes.reschedule, "e1", scheduled_for=None)
    assert (done.row.status, done.event) == ("draft", None)
    assert {job.reason for job in world.jobs("cancelled")} == {Reason.NO_REFERENCE_DATE}
    assert not world.jobs("pending")


def test_publishing_early_drops_the_announcement_and_plans_what_follows(
    world: World,
) -> None:
    _rules(world)
    world.episode()
    _do(world, episodes.schedule, "e1", PUBLISH)
    done = _do(world, episodes.publish, "e1")
    assert (done.row.status, done.row.published_at) == ("published", NOW)
    assert done.event.executions_created == 1
    assert _references(world) == {"time.after_publish": NOW}
    assert not _do(world, episodes.publish, "e1").changed
    assert len(world.events()) == 2


def test_what_is_published_stays_so(world: World) -> None:
    world.episode()
    _do(world, episodes.publish, "e1", NOW - timedelta(days=1))
    with pytest.raises(Conflict):
        _do(world, episodes.schedule, "e1", PUBLISH)
    with pytest.raises(Conflict):
        _do(world, episodes.reschedule, "e1", scheduled_for=PUBLISH)


def test_wrong_dates_and_unknown_episodes_are_refused(world: World) -> None:
    world.episode()
    with pytest.raises(InvalidInput, match="future"):
        _do(world, episodes.publish, "e1", PUBLISH)
    with pytest.raises(InvalidInput, match="offset from UTC"):
        _do(world, episodes.schedule, "e1", PUBLISH.replace(tzinfo=None))
    with pytest.raises(NotFound):
        _do(world, episodes.publish, "e2")
    with pytest.raises(InvalidInput, match="title is needed"):
        _do(world, episodes.save_episode, "e2", podcast_id="show")
    with pytest.raises(InvalidInput, match="title must not be empty"):
        _do(world, episodes.save_episode, "e1", title=" ")
    with pytest.raises(InvalidInput, match="whole number"):
        _do(world, episodes.save_episode, "e1", episode_number=-1)


def test_a_guest_is_created_and_changed(world: World) -> None:
    with world.make_session.begin() as session:
        new = episodes.save_guest(
            session, world.id, "g2", podcast_id="show", name="Zoë", access_token="t"
        )
        same = episodes.save_guest(session, world.id, "g2", name="Zoë")
        changed = episodes.save_guest(session, world.id, "g2", email="zoe@example.org")
    assert (new.created, same.changed, changed.changed) == (True, False, True)
    assert changed.row.access_token == "t"


def test_a_podcast_and_its_links_are_created_and_changed(world: World) -> None:
    new = _do(world, podcasts.save_podcast, "p2", title="Two", timezone="Europe/Paris")
    assert (new.created, new.row.host_name) == (True, "")
    assert not _do(world, podcasts.save_podcast, "p2", title="Two").changed
    assert _do(world, podcasts.save_podcast, "p2", timezone=None).changed
    link = _do(world, podcasts.save_booking_link, "l2", podcast_id="p2", name="Talk")
    assert link.created
    with pytest.raises(Conflict):
        _do(world, podcasts.save_booking_link, "l2", podcast_id="show")
    with pytest.raises(NotFound):
        _do(world, podcasts.save_booking_link, "l3", podcast_id="p9", name="Talk")


def test_another_timezone_of_the_podcast_moves_calendar_days(world: World) -> None:
    start = datetime(2026, 3, 30, 8, 0, tzinfo=UTC)
    world.booking(status="requested", start_time=start)
    world.rule("time.before_recording", offset_value=2, offset_unit=OffsetUnit.DAYS)
    world.rule("time.before_recording", offset_value=2, offset_unit=OffsetUnit.HOURS)
    _do(world, bookings.confirm, "b1")
    before = {job.due_at for job in world.jobs("pending")}
    _do(world, podcasts.save_podcast, "show", timezone="UTC")
    after = {job.due_at for job in world.jobs("pending")}
    assert before - after == {datetime(2026, 3, 28, 9, 0, tzinfo=UTC)}
    assert after - before == {datetime(2026, 3, 28, 8, 0, tzinfo=UTC)}
