"""Conditions and the loop guard, asked when an event comes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, select
from sqlalchemy.orm import sessionmaker

from tasks.automation.events import AutomationEvent, emit_automation_event, emit_events
from tasks.automation.records import CHUNK
from tasks.automation.results import EmitEventResult
from tasks.models import BookingStatus, Decision, ExecutionContext, Reason
from tests.tasks.automation.conftest import NOW, World

CONFIRMED = AutomationEvent("booking.confirmed", "show", booking_id="b1")
RESPONDED = AutomationEvent("guest.responded", "show", guest_id="g1")
HOOK: dict[str, Any] = {"action": "webhook", "settings": {"url": "https://example.org"}}
RATE = 3


def only_if(field: str, operator: str, value: str = "") -> dict[str, Any]:
    return {"rows": [{"field": field, "operator": operator, "value": value}]}


@pytest.fixture
def world(world: World, engine: Engine) -> World:
    """Return a world in which a rule acts on one thing three times an hour at most."""
    world.make_session = sessionmaker(
        engine.execution_options(loop_rate=RATE), expire_on_commit=False
    )
    return world


def _emit(
    world: World, payload: AutomationEvent, at: datetime = NOW, **values: Any
) -> EmitEventResult:
    told = replace(payload, congregation_id=world.id, **values)
    with world.make_session.begin() as session:
        return emit_automation_event(session, told, now=at)


def _noes(world: World) -> list[tuple[str | None, str | None]]:
    with world.make_session() as session:
        rows = session.execute(
            select(Decision.reason, Decision.detail).where(Decision.outcome == "no")
        )
        return [(reason, detail) for reason, detail in rows]


def test_a_rule_whose_conditions_hold_fires(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", conditions=only_if("booking.status", "is", "x"))
    yes = world.rule(
        "booking.confirmed", conditions=only_if("booking.guest_name", "is", "zoë")
    )
    assert _emit(world, CONFIRMED).rule_ids == (yes.id,)


def test_the_no_names_the_field_what_was_wanted_and_what_was_seen(
    world: World,
) -> None:
    world.booking()
    world.rule("booking.confirmed", conditions=only_if("booking.status", "is", "x"))
    assert _emit(world, CONFIRMED).executions_created == 0
    assert _noes(world) == [
        (
            Reason.CONDITION_FALSE,
            "Wanted: booking.status is “x”. Seen: “confirmed”.",
        )
    ]


def test_what_the_producer_told_can_be_asked_for(world: World) -> None:
    world.booking(status=BookingStatus.CONFIRMED)
    world.rule("booking.confirmed", conditions=only_if("order.total", "more", "10"))
    poor = _emit(world, CONFIRMED, context={"order": {"total": 9}}, event_id="1")
    rich = _emit(world, CONFIRMED, context={"order": {"total": 11}}, event_id="2")
    mute = _emit(world, CONFIRMED, event_id="3")
    assert [each.executions_created for each in (poor, rich, mute)] == [0, 1, 0]


def test_the_snapshot_is_as_it_was_without_conditions(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", conditions=only_if("event.type", "not_empty"))
    _emit(world, CONFIRMED)
    with world.make_session() as session:
        [snapshot] = session.scalars(select(ExecutionContext.context))
    assert "event" not in snapshot


def _many(world: World, payload: AutomationEvent, n: int) -> list[int]:
    return [
        _emit(world, payload, event_id=f"loop-{i}").executions_created for i in range(n)
    ]


@pytest.mark.parametrize(
    ("payload", "rule"), [(CONFIRMED, HOOK), (RESPONDED, {}), (RESPONDED, HOOK)]
)
def test_a_rule_that_acts_on_one_thing_again_and_again_is_stopped(
    world: World, payload: AutomationEvent, rule: dict[str, Any]
) -> None:
    world.booking()
    world.rule(payload.trigger_type, **rule)
    assert _many(world, payload, 5) == [1, 1, 1, 0, 0]
    assert _noes(world) == 2 * [
        (Reason.LOOP_GUARD, "It had acted on the same 3 times within an hour.")
    ]


def test_a_batch_is_counted_as_it_goes(world: World) -> None:
    world.booking()
    world.booking("b2")
    world.rule("booking.confirmed", **HOOK)
    payloads = [
        replace(
            CONFIRMED, booking_id=booking, event_id=str(i), congregation_id=world.id
        )
        for i, booking in enumerate(["b1"] * 5 + ["b2"] * 2)
    ]
    with world.make_session.begin() as session:
        results = emit_events(session, payloads, now=NOW)
    fired = [each.executions_created for each in results]
    assert fired == [1, 1, 1, 0, 0, 1, 1]


def test_after_an_hour_it_may_act_again(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", **HOOK)
    assert _many(world, CONFIRMED, 4) == [1, 1, 1, 0]
    later = _emit(world, CONFIRMED, NOW + timedelta(hours=1), event_id="later")
    assert later.executions_created == 1


def test_one_rules_loop_is_not_anothers(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", **HOOK)
    _many(world, CONFIRMED, 4)
    fresh = world.rule("booking.confirmed", **HOOK)
    assert _emit(world, CONFIRMED, event_id="x").rule_ids == (fresh.id,)


def test_the_same_ids_of_another_congregation_do_not_count(
    world: World, twin: World
) -> None:
    for each in (world, twin):
        each.booking()
        each.rule("booking.confirmed", **HOOK)
    twin.make_session = world.make_session
    _many(world, CONFIRMED, 4)
    assert _many(twin, CONFIRMED, 1) == [1]


def _statements(world: World, engine: Engine, n: int) -> int:
    seen: list[str] = []

    def count(*args: Any) -> None:
        seen.append(args[2])

    payloads = [
        replace(
            CONFIRMED,
            booking_id=f"b{i}",
            event_id=f"{n}.{i}",
            congregation_id=world.id,
        )
        for i in range(n)
    ]
    event.listen(engine, "before_cursor_execute", count)
    with world.make_session.begin() as session:
        emit_events(session, payloads, now=NOW)
    event.remove(engine, "before_cursor_execute", count)
    return len(seen)


def test_mails_about_bookings_cost_no_query_and_others_one_a_batch(
    world: World, engine: Engine
) -> None:
    for i in range(20):
        world.booking(f"b{i}")
    rule = world.rule("booking.confirmed")
    plain = _statements(world, engine, 2)
    with world.make_session.begin() as session:
        session.add(rule)
        rule.action, rule.settings = HOOK["action"], HOOK["settings"]
    assert _statements(world, engine, 3) == plain + 1
    assert _statements(world, engine, 20) == plain + 1


def test_more_rules_than_one_statement_takes_are_looked_at(world: World) -> None:
    rules = [world.rule("guest.responded", **HOOK) for _ in range(CHUNK + 1)]
    told = _emit(world, RESPONDED, event_id="1")
    assert (told.error, told.executions_created) == (None, len(rules))
