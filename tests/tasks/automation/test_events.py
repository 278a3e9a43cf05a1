"""Events become executions: once, with a decision for every rule."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation import (
    AutomationEvent,
    EmitEventResult,
    emit_automation_event,
    emit_booking_event,
    emit_episode_event,
    emit_events,
    emit_guest_event,
)
from tasks.db import CongregationSession, congregation_session, sessions, set_scope
from tasks.models import EventData, Execution, ExecutionContext, Podcast
from tests.tasks.automation.conftest import NOW, World

CONFIRMED = AutomationEvent("booking.confirmed", "show", booking_id="b1")


def _emit(world: World, payload: AutomationEvent, **values: Any) -> EmitEventResult:
    with world.make_session.begin() as session:
        return emit_automation_event(
            session, replace(payload, congregation_id=world.id, **values), now=NOW
        )


def test_a_rule_that_waits_for_the_event_gets_one_execution(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed")
    world.rule("booking.canceled")
    result = _emit(world, CONFIRMED)
    assert result.success
    assert (result.executions_created, result.rule_ids) == (1, (rule.id,))
    [execution] = world.executions()
    assert execution.recipient == "zoe@example.org"
    assert execution.idempotency_key == (
        f"{rule.id}:booking.confirmed:show::b1::2026-03-10"
    )
    assert (execution.event_id, execution.due_at) == (result.event_id, NOW)
    assert world.decisions() == [("fired", "")]


def test_the_snapshot_never_holds_an_access_token(world: World) -> None:
    world.booking(guest_id="g1")
    world.rule("booking.confirmed")
    _emit(
        world,
        CONFIRMED,
        context={"guest": {"access_token": "x"}, "note": [{"Access_Token": "y"}]},
    )
    with world.make_session() as session:
        [snapshot] = session.query(ExecutionContext).all()
        [data] = session.query(EventData).all()
    assert snapshot.context["guest"] == {
        "id": "g1",
        "name": "Ada",
        "email": "ada@example.org",
    }
    assert "oken" not in repr(data.data)


def test_a_repeated_event_is_stored_but_does_nothing(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    first, second = _emit(world, CONFIRMED), _emit(world, CONFIRMED)
    assert (second.success, second.executions_created, second.rule_ids) == (True, 0, ())
    assert second.is_duplicate
    assert second.event_id != first.event_id
    assert len(world.executions()) == 1
    assert world.decisions() == [("fired", ""), ("no", "duplicate")]


def test_an_event_with_an_id_of_its_own_is_stored_once(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    first = _emit(world, CONFIRMED, event_id="evt-1")
    again = _emit(world, CONFIRMED, event_id="evt-1")
    other = _emit(world, CONFIRMED, event_id="evt-2")
    assert (again.success, again.is_duplicate, again.executions_created) == (
        True,
        True,
        0,
    )
    assert again.event_id == first.event_id
    assert other.executions_created == 1
    assert len(world.events()) == 2


def test_the_same_event_on_another_day_fires_again(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    _emit(world, CONFIRMED)
    later = _emit(world, CONFIRMED, occurred_at=NOW + timedelta(days=1))
    assert later.executions_created == 1


def test_naming_the_episode_or_not_is_the_same_event(world: World) -> None:
    world.booking(episode_id="e1")
    world.episode()
    world.rule("booking.confirmed")
    _emit(world, CONFIRMED, episode_id="e1")
    assert _emit(world, CONFIRMED).is_duplicate


def test_every_no_is_written_down(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", podcast_id="other")
    world.rule("booking.confirmed", enabled=False)
    world.rule("booking.confirmed", deleted_at=NOW)
    result = _emit(world, CONFIRMED)
    assert result.success
    assert result.executions_created == 0
    assert world.decisions() == [("no", "out_of_scope"), ("no", "rule_disabled")]


def test_rules_that_keep_triggering_each_other_are_stopped(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    assert _emit(world, CONFIRMED, depth=3).executions_created == 1
    assert _emit(world, CONFIRMED, depth=4, event_id="d").executions_created == 0
    assert ("no", "loop_guard") in world.decisions()


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"trigger_type": "booking.exploded"}, "unknown_trigger"),
        ({"trigger_type": "time.before_recording"}, "time_trigger"),
        ({"trigger_type": None}, "unknown_trigger"),
        ({"podcast_id": "nowhere"}, "unknown_podcast"),
        ({"podcast_id": None}, "bad_id"),
        ({"podcast_id": "a b"}, "bad_id"),
        ({"booking_id": "b2"}, "unknown_booking"),
        ({"booking_id": "x" * 65}, "bad_id"),
        ({"episode_id": "e9"}, "unknown_episode"),
        ({"guest_id": "g9"}, "unknown_guest"),
        ({"podcast_id": "other"}, "podcast_mismatch"),
        ({"event_id": ""}, "bad_event_id"),
        ({"event_id": "a\nb"}, "bad_event_id"),
        ({"event_id": "x" * 256}, "bad_event_id"),
        ({"event_id": "carillon:mine"}, "reserved_event_id"),
        ({"occurred_at": NOW.replace(tzinfo=None)}, "naive_datetime"),
        ({"occurred_at": NOW.replace(year=2500)}, "date_out_of_range"),
        ({"occurred_at": "yesterday"}, "bad_date"),
        ({"context": ["no"]}, "bad_context"),
        ({"context": {"guest": "Zoë"}}, "bad_context"),
        ({"context": {"n": float("nan")}}, "bad_context"),
        ({"context": {"n": "\ud800"}}, "bad_context"),
        ({"context": {"n": "a\0b"}}, "bad_context"),
        ({"context": {"n": object()}}, "bad_context"),
        ({"context": {"n": "x" * 65_536}}, "context_too_large"),
    ],
)
def test_what_is_wrong_is_refused_with_a_word_and_nothing_is_written(
    world: World, values: dict[str, Any], code: str
) -> None:
    world.booking()
    world.rule("booking.confirmed")
    result = _emit(world, CONFIRMED, **values)
    assert (result.success, result.error_code) == (False, code)
    assert result.error
    assert not world.events()
    assert not world.executions()


def test_a_context_nested_too_deep_is_refused(world: World) -> None:
    world.booking()
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"d": deep}
    assert _emit(world, CONFIRMED, context=deep).error_code == "bad_context"


def test_without_a_scope_the_congregation_must_be_named(world: World) -> None:
    with world.make_session.begin() as session:
        assert emit_automation_event(session, CONFIRMED).error_code == "no_congregation"


def test_the_congregation_of_the_scope_is_meant(engine: Engine, world: World) -> None:
    world.booking()
    with congregation_session(engine, world.id) as session:
        assert emit_automation_event(session, CONFIRMED, now=NOW).success
    with CongregationSession(engine) as session:
        set_scope(session, frozenset())
        assert emit_automation_event(session, CONFIRMED).error_code == "no_congregation"


def test_records_of_another_congregation_are_not_known(
    engine: Engine, world: World, twin: World
) -> None:
    twin.booking("theirs")
    twin.rule("booking.confirmed")
    world.booking()
    payload = replace(CONFIRMED, booking_id="theirs")
    assert _emit(world, payload).error_code == "unknown_booking"
    assert _emit(world, CONFIRMED).executions_created == 0
    with congregation_session(engine, world.id) as session:
        stranger = replace(CONFIRMED, congregation_id=twin.id)
        result = emit_automation_event(session, stranger)
    assert result.error_code == "unknown_congregation"


def test_the_helpers_of_the_seed_report_what_they_say(
    engine: Engine, world: World
) -> None:
    world.booking()
    world.episode()
    with congregation_session(engine, world.id) as session:
        results = [
            emit_booking_event(session, "booking.confirmed", "b1", "show", "e1", "g1"),
            emit_booking_event(session, "booking.declined", "b1", "show"),
            emit_episode_event(session, "episode.published", "e1", "show"),
            emit_guest_event(session, "guest.responded", "g1", "e1", "show"),
        ]
    assert all(result.success for result in results)
    assert {(each.type, each.booking_id, each.guest_id) for each in world.events()} == {
        ("booking.confirmed", "b1", "g1"),
        ("booking.declined", "b1", None),
        ("episode.published", None, None),
        ("guest.responded", None, "g1"),
    }


def test_one_wrong_event_of_a_batch_is_refused_alone(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    good = replace(CONFIRMED, congregation_id=world.id)
    with world.make_session.begin() as session:
        results = emit_events(
            session, [good, replace(good, podcast_id="x"), good], now=NOW
        )
    assert [result.success for result in results] == [True, False, True]
    assert [result.executions_created for result in results] == [1, 0, 0]


def test_a_large_batch_needs_no_more_statements_than_a_small_one(
    engine: Engine, world: World
) -> None:
    world.booking()
    world.rule("booking.confirmed")
    world.rule("booking.confirmed")
    counts = [_statements(engine, world, f"{n}-", n) for n in (2, 500)]
    assert counts[0] == counts[1]
    assert len(world.executions()) == 2 * 502


def _statements(engine: Engine, world: World, prefix: str, n: int) -> int:
    seen: list[str] = []

    def count(*args: Any) -> None:
        seen.append(args[2])

    event.listen(engine, "before_cursor_execute", count)
    payloads = [
        replace(
            CONFIRMED,
            congregation_id=world.id,
            event_id=f"{prefix}{i}",
            context={"note": i},
        )
        for i in range(n)
    ]
    with world.make_session.begin() as session:
        results = emit_events(session, payloads, now=NOW)
    event.remove(engine, "before_cursor_execute", count)
    assert all(result.executions_created == 2 for result in results)
    return len(seen)


@pytest.mark.parametrize("event_id", [None, "once"])
def test_two_emitters_racing_make_one_execution(
    engine: Engine, world: World, event_id: str | None
) -> None:
    world.booking()
    world.rule("booking.confirmed")
    world.rule("booking.confirmed")
    payload = replace(CONFIRMED, congregation_id=world.id, event_id=event_id)
    barrier = threading.Barrier(4)
    results: list[EmitEventResult] = []

    def emit() -> None:
        barrier.wait()
        for _ in range(5):
            with sessions(engine).begin() as session:
                results.append(emit_automation_event(session, payload, now=NOW))

    threads = [threading.Thread(target=emit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20
    assert all(result.success for result in results)
    assert sum(result.executions_created for result in results) == 2
    assert len(world.executions()) == 2
    assert len(world.events()) == (20 if event_id is None else 1)


def test_a_failing_producer_leaves_the_callers_work_alone(
    engine: Engine, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.booking()
    world.rule("booking.confirmed", action="email", settings={"recipient": 7})

    def explode(*_args: object) -> None:
        raise RuntimeError("boom")

    event.listen(engine, "before_cursor_execute", explode_on(explode))
    with world.make_session.begin() as session:
        session.add(Podcast(congregation_id=world.id, id="mine", title="Mine"))
        payload = replace(CONFIRMED, congregation_id=world.id)
        result = emit_automation_event(session, payload, now=NOW)
    assert (result.success, result.error_code) == (False, "internal_error")
    assert "producer_failed" in caplog.text
    assert not world.events()
    assert {row.id for row in world.all(Podcast)} == {"show", "other", "mine"}


def explode_on(explode: Any) -> Any:
    def listen(*args: Any) -> None:
        if "INSERT INTO decisions" in args[2]:
            explode()

    return listen


def test_the_doorbell_rings_after_the_commit_and_only_if_there_is_work(
    world: World,
) -> None:
    world.booking()
    world.rule("booking.confirmed")
    heard: list[tuple[str, int]] = []

    def ring(lane: str) -> None:
        heard.append((lane, len(world.executions())))

    doorbell.on_commit(ring)
    try:
        _emit(world, CONFIRMED)
        _emit(world, CONFIRMED)
        with world.make_session() as session:
            payload = replace(CONFIRMED, congregation_id=world.id, event_id="lost")
            emit_automation_event(session, payload, now=NOW)
            session.rollback()
    finally:
        doorbell._listeners.remove(ring)
    assert heard == [("executions", 1)]


def test_an_action_that_is_not_known_here_does_not_stop_the_event(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", action="fax")
    assert _emit(world, CONFIRMED).executions_created == 1
    [execution] = world.executions()
    assert execution.recipient is None


def test_executions_are_seen_by_their_congregation_alone(
    engine: Engine, world: World, twin: World
) -> None:
    world.booking()
    world.rule("booking.confirmed")
    _emit(world, CONFIRMED)
    with congregation_session(engine, twin.id) as session:
        assert session.query(Execution).count() == 0
    session = Session(engine)
    assert session.query(Execution).count() == 1
    session.close()
