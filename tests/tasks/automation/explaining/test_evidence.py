"""The evidence is what the engine itself wrote, read in a fixed number of queries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from tasks.automation import bookings
from tasks.automation.entities import Record, find_record
from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.automation.explaining import Explanation, Holds, explain
from tasks.automation.explaining.evidence import gather
from tasks.errors import NotFound
from tasks.models import Booking, Rule
from tests.support.statements import statements
from tests.tasks.automation.conftest import NOW, World

LATER = NOW + timedelta(minutes=5)


def told(world: World, rules: list[Rule], id_: str = "b1") -> list[Explanation]:
    with world.make_session() as session:
        record = find_record(session, "booking", world.id, id_)
        fresh = [session.get_one(Rule, rule.id) for rule in rules]
        facts = gather(session, record, fresh, now=LATER)
        assert not session.new
        assert not session.dirty
        return [explain(each, LATER) for each in facts]


def emit(session: Session, world: World, trigger: str = "booking.confirmed") -> None:
    payload = AutomationEvent(
        trigger, "show", booking_id="b1", congregation_id=world.id
    )
    assert emit_automation_event(session, payload, now=NOW).success


def test_a_booking_without_an_event_says_that_none_was_reported(world: World) -> None:
    world.booking(status="requested", confirmed_at=None)
    rule = world.rule("booking.confirmed", created_at=NOW)
    [each] = told(world, [rule])
    assert each.verdict.sentence == (
        "No “Booking confirmed” was ever reported for it; its status is requested."
    )


def test_every_rule_gets_the_decision_that_the_engine_wrote(world: World) -> None:
    world.booking()
    fires = world.rule("booking.confirmed", name="fires")
    off = world.rule("booking.confirmed", name="off", enabled=False)
    elsewhere = world.rule("booking.confirmed", podcast_ids=["other"])
    with world.make_session.begin() as session:
        emit(session, world)
    answers = told(world, [fires, off, elsewhere])
    assert [each.verdict.holds for each in answers] == [
        Holds.OPEN,
        Holds.NO,
        Holds.NO,
    ]
    assert "due since" in answers[0].verdict.sentence
    assert "The rule is switched off." in answers[1].verdict.sentence
    assert "belongs to another podcast" in answers[2].verdict.sentence


def test_a_condition_that_was_false_is_told_with_the_value_seen(world: World) -> None:
    world.booking()
    wanted = {"field": "booking.guest_name", "operator": "is", "value": "Ada"}
    rule = world.rule("booking.confirmed", conditions={"rows": [wanted]})
    with world.make_session.begin() as session:
        emit(session, world)
    [each] = told(world, [rule])
    assert "Wanted: booking.guest_name is “Ada”" in each.verdict.sentence
    assert "Zoë" in each.verdict.sentence


def test_a_reminder_is_followed_from_its_date_to_its_job(world: World) -> None:
    world.booking(status="requested", confirmed_at=None)
    reminder = world.rule("time.before_recording", offset_value=24, created_at=NOW)
    assert "a confirmed booking" in told(world, [reminder])[0].verdict.sentence
    with world.make_session.begin() as session:
        bookings.confirm(session, world.id, "b1", now=NOW)
    [waits] = told(world, [reminder])
    assert waits.verdict.holds is Holds.OPEN
    assert waits.verdict.link is not None
    with world.make_session.begin() as session:
        bookings.cancel(session, world.id, "b1", now=NOW)
    [ended] = told(world, [reminder])
    assert "ended as cancelled" in ended.verdict.sentence
    assert "The booking was cancelled." in ended.verdict.sentence


def test_a_rule_made_after_the_confirmation_says_so(world: World) -> None:
    world.booking(confirmed_at=NOW - timedelta(days=1))
    reminder = world.rule("time.before_recording", offset_value=1, created_at=NOW)
    [each] = told(world, [reminder])
    assert "no job is planned: the rule was made on" in each.verdict.sentence


def test_episodes_and_guests_are_explained_too(world: World) -> None:
    world.episode()
    publish = world.rule("time.before_publish")
    answered = world.rule("guest.responded")
    with world.make_session() as session:
        for kind, id_, rule, piece in (
            ("episode", "e1", publish, "no date on which it goes out"),
            ("guest", "g1", answered, "No “Guest responded” was ever reported"),
        ):
            record: Record = find_record(session, kind, world.id, id_)  # type: ignore[arg-type]
            [facts] = gather(session, record, [rule], now=LATER)
            assert piece in explain(facts, LATER).verdict.sentence


def test_the_queries_do_not_grow_with_the_rules(world: World) -> None:
    world.booking()
    with world.make_session.begin() as session:
        emit(session, world)
    rules = [world.rule("booking.confirmed"), world.rule("time.before_recording")]
    with statements() as few:
        told(world, rules[:1])
    rules += [world.rule("booking.confirmed") for _ in range(20)]
    with statements() as many:
        told(world, rules)
    with statements() as loading, world.make_session() as session:
        for rule in rules:
            session.get_one(Rule, rule.id)
    assert len(many) - len(loading) <= len(few) + 2


def test_another_congregations_record_is_not_found(world: World, twin: World) -> None:
    twin.booking("theirs")
    with world.make_session() as session, pytest.raises(NotFound):
        find_record(session, "booking", world.id, "theirs")
    with world.make_session() as session, pytest.raises(NotFound):
        find_record(session, "booking", world.id, "b\x001")


def test_the_newest_event_counts_however_many_came_before(world: World) -> None:
    world.booking()
    rule = world.rule("booking.rescheduled", created_at=NOW - timedelta(days=1))
    with world.make_session.begin() as session:
        emit(session, world)
        for minutes in (1, 2):
            at = NOW + timedelta(minutes=minutes)
            payload = AutomationEvent(
                "booking.rescheduled",
                "show",
                booking_id="b1",
                event_id=f"move-{minutes}",
                congregation_id=world.id,
            )
            assert emit_automation_event(session, payload, now=at).success
    with world.make_session() as session:
        record = session.get_one(Booking, (world.id, "b1"))
        [facts] = gather(session, record, [rule], now=LATER)
    assert facts.event is not None
    assert facts.event.external_id == "move-2"
    assert facts.execution is not None
