"""Who works on deliveries locks in one order, so operators and lanes tie no knot."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Done
from tasks.db import sessions
from tasks.models import Delivery, DeliveryState, Event, OutboxEntry, WebhookMessage
from tasks.webhooks.claiming import claim
from tasks.webhooks.endpoints import disable
from tasks.webhooks.fanout import fan_out
from tasks.webhooks.finding import lock
from tasks.webhooks.messages import keep_messages
from tasks.webhooks.settling import Acted, settle
from tests.support.hook_sink import HookSink
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until
from tests.tasks.automation.conftest import make_world
from tests.tasks.webhooks.conftest import ACTOR, Desk
from tests.tasks.webhooks.test_together import report


@pytest.fixture
def desk(postgres_engine: Engine, hook_sink: HookSink) -> Desk:
    world = make_world(sessions(postgres_engine), "bonifatius")
    world.booking()
    return Desk(world, hook_sink)


def test_who_settles_holds_no_delivery_while_it_waits_for_the_endpoint(
    desk: Desk, postgres_engine: Engine
) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    desk.fan_out()
    with desk.begin() as session:
        held = claim(session, desk.bench(), limit=1)

    def write_down() -> Any:
        with desk.begin() as session:
            acted = [Acted(each, Done(200)) for each in held]
            return settle(session, acted, worker="w", now=desk.now)

    with ThreadPoolExecutor(1) as pool:
        with desk.begin() as session:
            lock(session, endpoint.id)
            begun = pool.submit(write_down)
            until(lambda: waits_for_a_lock(postgres_engine))
            with desk.begin() as another:
                free = select(Delivery.id).with_for_update(nowait=True)
                assert len(another.scalars(free).all()) == 1
            disable(session, endpoint.id, ACTOR, desk.now)
        begun.result(30)
    assert desk.only().state is DeliveryState.DELIVERED


def test_messages_of_the_same_events_are_kept_at_once(
    desk: Desk, postgres_engine: Engine
) -> None:
    desk.endpoint()
    report(desk, 2)

    def keep(session: Session, *places: int) -> None:
        events = session.scalars(select(Event).order_by(Event.id)).all()
        keep_messages(session, [events[place] for place in places], desk.now)

    def keep_both() -> None:
        with desk.begin() as session:
            keep(session, 1, 0)

    with ThreadPoolExecutor(1) as pool:
        with desk.begin() as session:
            keep(session, 0)
            begun = pool.submit(keep_both)
            until(lambda: waits_for_a_lock(postgres_engine))
            keep(session, 1)
        begun.result(30)
    with desk.begin() as session:
        n = session.scalar(select(func.count()).select_from(WebhookMessage))
    assert n == 2


def test_the_same_events_are_fanned_out_at_once(
    desk: Desk, postgres_engine: Engine
) -> None:
    desk.endpoint()
    report(desk, 2)
    with desk.begin() as session:  # then only the deliveries are new
        keep_messages(session, session.scalars(select(Event)).all(), desk.now)
        entries = session.scalars(select(OutboxEntry).order_by(OutboxEntry.event_id))
        first, second = entries.all()
        again = [
            OutboxEntry(
                congregation_id=each.congregation_id,
                event_id=each.event_id,
                run_at=desk.now,
                again=True,
            )
            for each in (second, first)
        ]
        session.add_all(again)

    def tell_again() -> None:
        with desk.begin() as session:
            fan_out(session, again, desk.now)

    with ThreadPoolExecutor(1) as pool:
        with desk.begin() as session:
            fan_out(session, [first], desk.now)
            begun = pool.submit(tell_again)
            until(lambda: waits_for_a_lock(postgres_engine))
            fan_out(session, [second], desk.now)
        begun.result(30)
    assert [row.state for row in desk.deliveries()] == [DeliveryState.PENDING] * 2
