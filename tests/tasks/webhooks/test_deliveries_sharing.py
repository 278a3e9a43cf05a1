"""How many deliveries are under way at once, and whose."""

from __future__ import annotations

import time
from contextlib import ExitStack

from sqlalchemy import update

from tasks.executing.hosts import HANGING, HANGING_MAX, Hosts
from tasks.lanes import deliveries
from tasks.models import Delivery, DeliveryState
from tasks.webhooks.claiming import claim, host_of_url
from tasks.webhooks.room import IN_FLIGHT_MAX
from tasks.webhooks.testing import send_test
from tests.support.hook_sink import Reply
from tests.tasks.webhooks.conftest import ACTOR, Desk


def test_an_endpoint_gets_a_few_at_once_and_one_while_it_fails(desk: Desk) -> None:
    endpoint = desk.endpoint()
    for _ in range(IN_FLIGHT_MAX + 2):
        with desk.begin() as session:
            send_test(session, endpoint.id, ACTOR, desk.now)
    with desk.begin() as session:
        assert len(claim(session, desk.bench(), limit=100)) == IN_FLIGHT_MAX
    with desk.begin() as session:
        assert claim(session, desk.bench(), limit=100) == []
        session.execute(update(Delivery).values(state=DeliveryState.PENDING))
        session.merge(endpoint).failures = 3
    with desk.begin() as session:
        assert len(claim(session, desk.bench(), limit=100)) == 1
    with desk.begin() as session:
        assert claim(session, desk.bench(), limit=100) == []


def test_endpoints_take_turns(desk: Desk) -> None:
    busy, quiet = desk.endpoint("/busy"), desk.endpoint("/quiet")
    for _ in range(8):
        with desk.begin() as session:
            send_test(session, busy.id, ACTOR, desk.now)
    desk.later(seconds=1)
    with desk.begin() as session:
        send_test(session, quiet.id, ACTOR, desk.now)
        held = claim(session, desk.bench(), limit=4)
    assert quiet.id in {each.endpoint_id for each in held}


def test_a_hanging_endpoint_keeps_nobody_waiting(desk: Desk) -> None:
    desk.total_seconds = 20.0
    desk.endpoint("/hangs", event_types=["booking.declined"])
    desk.endpoint("/works", event_types=["booking.confirmed"])
    desk.sink.answer("/hangs", Reply(kind="hang"))
    hanging = desk.deliveries
    for _ in range(IN_FLIGHT_MAX):
        desk.happen(event="booking.declined")
        desk.later(days=1)
    for _ in range(20):
        desk.happen()
        desk.later(days=1)
    desk.fan_out()
    bench = desk.bench()
    swept = deliveries.sweep(bench, 100)
    assert len(swept.delivered) == 20
    assert len(swept.slow) == IN_FLIGHT_MAX
    assert sum(row.state is DeliveryState.RUNNING for row in hanging()) == len(
        swept.slow
    )
    desk.sink.stop()  # the line is cut, and what hung comes to its end
    assert bench.stragglers.join(time.monotonic() + 10)
    assert {row.state.value for row in hanging()} <= {"delivered", "pending"}


def test_a_host_that_hangs_gets_few_of_all_its_endpoints_and_others_go_on(
    desk: Desk,
) -> None:
    for n in range(4):
        desk.endpoint(f"/hangs/{n}", event_types=["booking.declined"])
    other = desk.endpoint("/works", event_types=["booking.confirmed"])
    with desk.begin() as session:  # the same place by another name
        session.merge(other).url = desk.sink.url("/works", host="localhost")
    for event in ("booking.declined", "booking.confirmed"):
        for _ in range(4):
            desk.happen(event=event)
            desk.later(days=1)
    desk.fan_out()
    clock = [0.0]
    hosts = Hosts(lambda: clock[0])
    bench = desk.bench(hosts=hosts)
    host = host_of_url(desk.sink.url())
    with ExitStack() as under_way:
        for _ in range(HANGING_MAX):
            under_way.enter_context(hosts.calling(host))
        clock[0] += HANGING.total_seconds() + 1
        swept = deliveries.sweep(bench, 100)
    assert len(swept.delivered) == 4
    assert {hook.path for hook in desk.sink.requests} == {"/works"}
    waiting = [row for row in desk.deliveries() if row.state == "pending"]
    assert len(waiting) == 16
    assert {row.attempt for row in waiting} == {0}
    assert min(row.run_at for row in waiting) > desk.now
