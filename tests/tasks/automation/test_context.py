"""Contexts: fresh records in local time, with no secrets, and a snapshot in need."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, delete, event, select, update

from tasks.automation import AutomationEvent, emit_automation_event
from tasks.automation.context import build_contexts, build_full_context
from tasks.automation.triggers import TRIGGERS
from tasks.models import Booking, Event, Execution, ScheduledJob
from tests.tasks.automation.conftest import NOW, World


def _full(world: World, **values: Any) -> dict[str, Any]:
    with world.make_session() as session:
        return build_full_context(session, world.id, "show", **values)


def test_a_context_holds_every_variable_that_its_triggers_promise(
    world: World,
) -> None:
    world.episode()
    world.booking(episode_id="e1", guest_id="g1", booking_link_id="l1")
    context = _full(world, booking_id="b1")
    triggers = [trigger for trigger in TRIGGERS.values() if not trigger.is_own]
    for trigger in triggers:
        for name in trigger.variables:
            section, field = name.split(".")
            assert field in context[section], name
    promised = {name for t in triggers for name in t.variables}
    held = {f"{s}.{f}" for s, fields in context.items() for f in fields}
    assert held == promised


def test_instants_are_local_with_their_offset(world: World) -> None:
    world.booking(start_time=datetime(2026, 7, 1, 12, 0, tzinfo=UTC))
    assert _full(world, booking_id="b1")["booking"]["start_time"] == (
        "2026-07-01T14:00:00+02:00"
    )
    world.booking("b2", timezone="Asia/Kathmandu")
    booking = _full(world, booking_id="b2")["booking"]
    assert booking["start_time"].endswith("+05:45")
    assert booking["timezone"] == "Asia/Kathmandu"


def test_a_booking_tells_what_the_guests_record_does_not(world: World) -> None:
    world.booking(guest_id="unknown")
    guest = _full(world, booking_id="b1")["guest"]
    assert guest == {"id": "unknown", "name": "Zoë", "email": "zoe@example.org"}
    assert "guest" not in _full(world)


def test_what_a_producer_tells_is_laid_over_but_not_over_the_congregation(
    world: World,
) -> None:
    world.booking()
    extra = {"guest": {"name": "Z."}, "congregation": {"name": "Mine"}, "more": [1]}
    context = _full(world, booking_id="b1", extra=extra)
    assert context["guest"]["name"] == "Z."
    assert context["guest"]["email"] == "zoe@example.org"
    assert context["congregation"]["name"] == "St. Bonifatius"
    assert context["more"] == [1]


def _emit(world: World, **values: Any) -> UUID:
    payload = AutomationEvent(
        "booking.confirmed",
        "show",
        booking_id="b1",
        congregation_id=world.id,
        **values,
    )
    with world.make_session.begin() as session:
        result = emit_automation_event(session, payload, now=NOW)
    assert result.executions_created
    return world.executions()[0].id


def test_what_is_sent_is_fresh(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    id_ = _emit(world, context={"note": "kept"})
    with world.make_session.begin() as session:
        session.execute(update(Booking).values(meeting_url="https://meet.example.org"))
        [row] = session.scalars(select(Execution))
        context = build_contexts(session, [row])[id_]
        [stored] = session.scalars(select(Event))
        told = build_contexts(session, [stored])[stored.id]
    assert context["booking"]["meeting_url"] == "https://meet.example.org"
    assert context["note"] == told["note"] == "kept"


def test_a_record_that_is_gone_comes_from_the_snapshot(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    id_ = _emit(world)
    with world.make_session.begin() as session:
        session.execute(delete(Booking))
        [row] = session.scalars(select(Execution))
        context = build_contexts(session, [row])[id_]
    assert context["booking"]["guest_name"] == "Zoë"
    assert context["guest"]["email"] == "zoe@example.org"


def test_many_rows_need_no_more_queries_than_one(engine: Engine, world: World) -> None:
    for n in range(30):
        world.booking(f"b{n}", guest_id="g1", booking_link_id="l1")
    rule = world.rule("time.before_recording")
    for n in range(30):
        world.add(
            ScheduledJob(
                congregation_id=world.id,
                rule_id=rule.id,
                rule_version=1,
                trigger_type=rule.trigger_type,
                podcast_id="show",
                booking_id=f"b{n}",
                idempotency_key=str(n),
                timezone="UTC",
                reference_at=NOW,
                due_at=NOW,
                run_at=NOW,
            )
        )
    seen: list[str] = []
    with world.make_session() as session:
        rows = session.scalars(select(ScheduledJob)).all()
        event.listen(engine, "before_cursor_execute", lambda *a: seen.append(a[2]))
        assert len(build_contexts(session, rows)) == 30
        assert build_contexts(session, []) == {}
    assert len(seen) <= 8
