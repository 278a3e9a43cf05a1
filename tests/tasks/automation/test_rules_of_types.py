"""Rules are found by the types of the events, for one type as for several."""

from __future__ import annotations

from dataclasses import replace

from tasks.automation import AutomationEvent, emit_automation_event, emit_events
from tasks.models import Rule
from tests.tasks.automation.conftest import NOW, World

CONFIRMED = AutomationEvent("booking.confirmed", "show", booking_id="b1")


def test_rules_of_several_types_are_found_as_those_of_one(
    world: World, twin: World
) -> None:
    world.booking()
    rule = world.rule("booking.confirmed")
    other = world.rule("booking.canceled")
    removed = world.rule("booking.confirmed")
    twin.rule("booking.confirmed")
    confirmed = replace(CONFIRMED, congregation_id=world.id)
    canceled = replace(confirmed, trigger_type="booking.canceled")
    with world.make_session.begin() as session:
        session.get_one(Rule, removed.id).deleted_at = NOW
    with world.make_session.begin() as session:
        both = emit_events(session, [confirmed, canceled], now=NOW)
        again = replace(confirmed, event_id="again")
        alone = emit_automation_event(session, again, now=NOW)
    assert [result.rule_ids for result in both] == [(rule.id,), (other.id,)]
    assert alone.rule_ids == (rule.id,)
