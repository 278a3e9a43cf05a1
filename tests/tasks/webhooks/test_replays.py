"""Sending again: one delivery, one event, what failed, a span of time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import DeliveryState, OperationKind, new_id
from tasks.operations.kinds import Asked, refused
from tasks.operations.single import Answer
from tasks.webhooks.endpoints import disable, enable, remove
from tasks.webhooks.replays import (
    replay_event,
    replay_span,
    retry_delivery,
)
from tests.support.hook_sink import Reply
from tests.support.many import do_all
from tests.tasks.webhooks.conftest import ACTOR, Desk

RETRY = OperationKind.RETRY_DELIVERIES


def test_one_delivery_goes_out_again_as_it_was(desk: Desk) -> None:
    desk.endpoint()
    desk.happen()
    desk.work()
    row = desk.only()
    with desk.begin() as session:
        assert retry_delivery(session, row.id, ACTOR, desk.now) is Answer.DONE
        assert retry_delivery(session, row.id, ACTOR, desk.now) is Answer.ALREADY
    desk.deliver()
    first, second = desk.sink.requests
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert [each.number for each in desk.attempts()] == [1, 2]


def test_an_event_goes_again_to_all_who_ask_for_it_also_to_new_ones(
    desk: Desk,
) -> None:
    desk.endpoint("/a")
    desk.happen()
    desk.work()
    desk.endpoint("/b")
    (event,) = desk.world.events()
    with desk.begin() as session:
        replay_event(session, event.id, ACTOR, desk.now)
    assert len(desk.work().delivered) == 2
    assert [hook.path for hook in desk.sink.requests].count("/a") == 2
    assert len({hook.body for hook in desk.sink.requests}) == 1


def test_what_failed_goes_out_again(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.sink.answer("/hook", Reply(410), Reply(200))
    desk.happen()
    desk.work()
    ask = (RETRY, {"endpoint_id": str(endpoint.id)}, ACTOR)
    with desk.begin() as session:
        assert do_all(session, *ask, desk.now) == 0, "the endpoint is off"
        asked = Asked(*ask[:2], desk.now)
        ((why, n),) = refused(session, asked)
        assert ("switch it on" in why, n) == (True, 1)
    with desk.begin() as session:
        enable(session, endpoint.id, ACTOR, desk.now)
        assert do_all(session, *ask, desk.now) == 1
        assert do_all(session, *ask, desk.now) == 0
    assert len(desk.deliver().delivered) == 1


def test_an_outage_is_made_up_for_in_order(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    desk.work()
    desk.later(hours=1)
    with desk.begin() as session:
        disable(session, endpoint.id, ACTOR, desk.now)
    for event in ("booking.declined", "booking.canceled"):
        desk.later(minutes=1)
        desk.happen(event=event)
    assert desk.work().delivered == ()
    with desk.begin() as session:
        since = enable(session, endpoint.id, ACTOR, desk.now)
        assert since is not None
        until = desk.now + timedelta(seconds=1)
        done = replay_span(session, endpoint.id, since, until, ACTOR, desk.now)
    assert (done.n_events, done.until) == (2, None)
    desk.fan_out()
    types = [row.type for row in desk.deliveries()]
    assert types == ["booking.confirmed", "booking.declined", "booking.canceled"]
    assert len(desk.deliver().delivered) == 2
    assert len(desk.sink.requests) == 3


@pytest.mark.parametrize(("again", "n_sent"), [(False, 0), (True, 1)])
def test_what_arrived_goes_out_again_only_when_that_is_meant(
    desk: Desk, again: bool, n_sent: int
) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    desk.work()
    with desk.begin() as session:
        replay_span(
            session,
            endpoint.id,
            desk.now - timedelta(hours=1),
            desk.now + timedelta(hours=1),
            ACTOR,
            desk.now,
            again=again,
        )
    assert len(desk.work().delivered) == n_sent


def test_what_cannot_be_sent_again_says_why(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    desk.work()
    row, (event,) = desk.only(), desk.world.events()
    with desk.begin() as session:
        with pytest.raises(InvalidInput, match="later"):
            replay_span(session, endpoint.id, desk.now, desk.now, ACTOR, desk.now)
        with pytest.raises(NotFound):
            retry_delivery(session, new_id(), ACTOR, desk.now)
        with pytest.raises(NotFound):
            replay_event(session, new_id(), ACTOR, desk.now)
    with desk.begin() as session:
        remove(session, endpoint.id, ACTOR, desk.now)
        with pytest.raises(Conflict, match="removed"):
            retry_delivery(session, row.id, ACTOR, desk.now)
        with pytest.raises(Conflict, match="enabled"):
            replay_event(session, event.id, ACTOR, desk.now)
    assert desk.only().state is DeliveryState.DELIVERED
