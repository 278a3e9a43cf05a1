"""From an event to its deliveries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from tasks.automation import AutomationEvent, emit_events
from tasks.automation.events import emit_own_all
from tasks.lanes import fanout
from tasks.models import Congregation, DeliveryState, OutboxEntry, WebhookMessage
from tasks.webhooks import messages
from tasks.webhooks.endpoints import disable, enable, remove
from tasks.webhooks.outbox import hand_over_again
from tests.support.statements import statements
from tests.tasks.webhooks.conftest import ACTOR, Desk


def told(desk: Desk) -> AutomationEvent:
    return AutomationEvent(
        "booking.confirmed", "show", booking_id="b1", congregation_id=desk.world.id
    )


def n_waiting(desk: Desk) -> int:
    with desk.begin() as session:
        return session.scalar(select(func.count()).select_from(OutboxEntry)) or 0


def test_where_nobody_listens_nothing_is_written(desk: Desk) -> None:
    desk.happen()
    assert n_waiting(desk) == 0


def test_an_event_becomes_one_delivery_for_each_endpoint(desk: Desk) -> None:
    first, second = desk.endpoint("/a"), desk.endpoint("/b")
    desk.happen()
    assert n_waiting(desk) == 1
    swept = desk.fan_out()
    assert len(swept.fanned_out) == 1
    assert {row.endpoint_id for row in desk.deliveries()} == {first.id, second.id}
    assert {row.state for row in desk.deliveries()} == {DeliveryState.PENDING}
    assert n_waiting(desk) == 0


def test_a_batch_of_events_goes_through_the_outbox_as_a_whole(desk: Desk) -> None:
    desk.endpoint()
    with desk.begin() as session:
        events = [
            replace(told(desk), event_id=id_)
            for id_ in ("one", "two", "three", "four", "one")
        ]
        done = emit_events(session, events, now=desk.now)
    assert all(each.success for each in done)
    assert n_waiting(desk) == 4
    assert len(desk.fan_out().deliveries) == 4


def test_an_event_that_is_rolled_back_is_told_to_nobody(desk: Desk) -> None:
    desk.endpoint()
    with desk.begin() as session:
        (done,) = emit_events(session, [told(desk)], now=desk.now)
        session.rollback()
    assert done.success
    assert n_waiting(desk) == 0


def test_the_same_entry_twice_is_one_delivery(desk: Desk) -> None:
    desk.endpoint()
    desk.happen()
    desk.fan_out()
    (event,) = desk.world.events()
    with desk.begin() as session:
        hand_over_again(
            session, desk.world.id, [event.id], desk.now, endpoint_id=None, again=False
        )
    assert desk.fan_out().deliveries == ()
    assert len(desk.deliveries()) == 1


def test_an_endpoint_hears_only_what_it_asked_for(desk: Desk) -> None:
    types = desk.endpoint("/types", event_types=["booking.declined"])
    podcasts = desk.endpoint("/podcasts", podcast_ids=["other"])
    both = desk.endpoint(
        "/both", event_types=["booking.confirmed"], podcast_ids=["show"]
    )
    desk.happen()
    desk.fan_out()
    heard = {row.endpoint_id for row in desk.deliveries()}
    assert heard == {both.id}
    assert heard.isdisjoint({types.id, podcasts.id})
    assert n_waiting(desk) == 0  # an event that nobody asked for waits for nobody


def test_a_congregation_stops_writing_when_its_last_endpoint_goes(desk: Desk) -> None:
    first, second = desk.endpoint("/a"), desk.endpoint("/b")

    def listens() -> bool:
        with desk.begin() as session:
            return session.get_one(Congregation, desk.world.id).has_endpoints

    assert listens()
    with desk.begin() as session:
        disable(session, first.id, ACTOR, desk.now)
    assert listens()
    with desk.begin() as session:
        remove(session, second.id, ACTOR, desk.now)
    assert not listens()
    with desk.begin() as session:
        enable(session, first.id, ACTOR, desk.now)
    assert listens()


def test_what_is_told_stays_the_same_whatever_changes(desk: Desk) -> None:
    desk.endpoint()
    desk.happen()
    desk.fan_out()
    with desk.begin() as session:
        (before,) = session.scalars(select(WebhookMessage.body))
    (event,) = desk.world.events()
    with desk.begin() as session:
        session.get_one(Congregation, desk.world.id).name = "St. Georg"
        hand_over_again(
            session, desk.world.id, [event.id], desk.now, endpoint_id=None, again=True
        )
    desk.fan_out()
    with desk.begin() as session:
        assert session.scalars(select(WebhookMessage.body)).all() == [before]
    assert "let-me-in" not in before


def test_one_bad_entry_is_set_aside_and_the_others_go_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.endpoint()
    desk.happen()
    desk.happen(event="booking.declined")
    real = messages.written

    def bad(id_: object, type_: str, *rest: object) -> str:
        if type_ == "booking.declined":
            raise ValueError("cannot be written")
        return real(id_, type_, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(messages, "written", bad)
    swept = desk.fan_out()
    assert (len(swept.fanned_out), len(swept.set_aside)) == (1, 1)
    assert [row.type for row in desk.deliveries()] == ["booking.confirmed"]
    with desk.begin() as session:
        (entry,) = session.scalars(select(OutboxEntry))
        assert entry.error == "ValueError: cannot be written"
        assert entry.run_at == desk.now + timedelta(minutes=1)
        assert fanout.backlog(session, desk.now).n_due == 0
        assert fanout.backlog(session, entry.run_at).n_due == 1
    monkeypatch.undo()
    desk.later(minutes=2)
    assert len(desk.fan_out().deliveries) == 1


def test_nobody_listens_costs_no_statement(desk: Desk) -> None:
    with desk.begin() as session, statements() as silent:
        (done,) = emit_events(session, [told(desk)], now=desk.now)
    assert done.success
    assert not [one for one in silent if "outbox" in one or "endpoints " in one]


def test_events_of_our_own_are_told_as_well(desk: Desk) -> None:
    desk.endpoint()
    due = AutomationEvent(
        "contact.due",
        None,
        event_id="engagement-1",
        congregation_id=desk.world.id,
        context={"contact": {"address": "ada@example.org"}},
    )
    with desk.begin() as session:
        emit_own_all(session, [due], desk.now)
    assert len(desk.work().delivered) == 1
    (hook,) = desk.sink.requests
    assert hook.json["type"] == "contact.due"
    assert hook.json["data"]["contact"] == {"address": "ada@example.org"}
