"""Several workers and an operator at once: everything once, and nobody in a knot."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Engine, event, func, select

from tasks.automation import AutomationEvent, emit_events
from tasks.automation.actions.base import Done, Letter, Outcome, TryAgain
from tasks.lane import Bench
from tasks.lanes import deliveries, fanout, janitor
from tasks.models import (
    Delivery,
    DeliveryState,
    Event,
    OperationKind,
    OutboxEntry,
    WebhookMessage,
)
from tasks.webhooks.claiming import claim
from tasks.webhooks.endpoints import disable, enable
from tasks.webhooks.replays import replay_span
from tasks.webhooks.room import IN_FLIGHT_MAX
from tasks.webhooks.testing import send_test
from tests.support.many import do_all
from tests.tasks.webhooks.conftest import ACTOR, Desk
from tests.tasks.webhooks.test_deliveries import Answers, with_courier


def report(desk: Desk, n_events: int) -> None:
    with desk.begin() as session:
        event = partial(
            AutomationEvent,
            "booking.confirmed",
            "show",
            booking_id="b1",
            congregation_id=desk.world.id,
        )
        events = [event(event_id=f"e{n}") for n in range(n_events)]
        assert all(done.success for done in emit_events(session, events, now=desk.now))


def all_at_once(*calls: Callable[[], Any]) -> None:
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> None:
        start.wait(10)
        call()

    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(run, call) for call in calls]:
            done.result(60)


def until_empty(sweep: Callable[[Bench, int], Any], bench: Bench) -> None:
    while sweep(bench, 5) != type(sweep(bench, 5))():
        pass


def test_three_workers_tell_everything_once(desk: Desk) -> None:
    for path in ("/a", "/b", "/c"):
        desk.endpoint(path)
    report(desk, 20)
    courier = Answers(lambda _: Done(200))
    benches = [with_courier(desk.bench(), courier) for _ in range(3)]
    all_at_once(*(partial(until_empty, fanout.sweep, bench) for bench in benches))
    all_at_once(*(partial(until_empty, deliveries.sweep, bench) for bench in benches))
    while deliveries.sweep(benches[0], 10).delivered:
        pass
    sent = [(letter.url, letter.id) for letter in courier.letters]
    assert len(sent) == len(set(sent)) == 60
    assert {row.state for row in desk.deliveries()} == {DeliveryState.DELIVERED}


def test_an_operator_who_switches_meanwhile_ties_no_knot(desk: Desk) -> None:
    first, second = desk.endpoint("/a"), desk.endpoint("/b")
    report(desk, 30)

    def say(letter: Letter) -> Outcome:
        return TryAgain("no") if letter.url.endswith("/b") else Done(200)

    def switch() -> None:
        for endpoint in (second, first) * 5:
            with desk.begin() as session:
                disable(session, endpoint.id, ACTOR, desk.now)
            with desk.begin() as session:
                enable(session, endpoint.id, ACTOR, desk.now)
                where = {"endpoint_id": str(endpoint.id)}
                do_all(session, OperationKind.RETRY_DELIVERIES, where, ACTOR, desk.now)

    def work() -> None:
        bench = with_courier(desk.bench(), Answers(say))
        for _ in range(10):
            fanout.sweep(bench, 5)
            deliveries.sweep(bench, 10)

    all_at_once(switch, work, work)
    with desk.begin() as session:
        since, until = desk.now - timedelta(days=1), desk.now + timedelta(days=1)
        for endpoint in (first, second):
            replay_span(session, endpoint.id, since, until, ACTOR, desk.now)
    desk.later(days=1)
    bench = with_courier(desk.bench(), Answers(lambda _: Done(200)))
    for _ in range(30):
        fanout.sweep(bench, 100)
        deliveries.sweep(bench, 100)
    assert [row.state for row in desk.deliveries()] == [DeliveryState.DELIVERED] * 60


def waits_in_line(engine: Engine) -> threading.Event:
    """Return what is set when another thread is about to wait for our claim."""
    ours, waits = threading.get_ident(), threading.Event()

    def note(is_line: bool) -> None:
        if is_line and threading.get_ident() != ours:
            waits.set()

    def begins(_connection: Any) -> None:
        note(engine.dialect.name == "sqlite")  # where beginning is the waiting

    def asks(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        note("pg_advisory_xact_lock" in statement)

    event.listen(engine, "begin", begins, insert=True)
    event.listen(engine, "before_cursor_execute", asks)
    return waits


def test_two_that_claim_at_once_give_an_endpoint_no_more_than_its_share(
    desk: Desk, engine: Engine
) -> None:
    desk.endpoint("/a")
    desk.endpoint("/b")
    report(desk, 2 * IN_FLIGHT_MAX)
    desk.fan_out()
    waits = waits_in_line(engine)

    def take(limit: int) -> list[str]:
        with desk.begin() as session:
            held = claim(session, desk.bench(), limit=limit)
            return [each.letter.url[-2:] for each in held]

    with ThreadPoolExecutor(1) as pool:
        with desk.begin() as session:
            first = claim(session, desk.bench(), limit=IN_FLIGHT_MAX)
            second = pool.submit(take, 100)
            assert waits.wait(10)
        both = [each.letter.url[-2:] for each in first] + second.result(60)
    assert Counter(both) == {"/a": IN_FLIGHT_MAX, "/b": IN_FLIGHT_MAX}
    assert take(100) == []


def test_what_was_told_is_forgotten_with_the_rest_of_the_history(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    with desk.begin() as session:
        send_test(session, endpoint.id, ACTOR, desk.now)
    desk.work()
    desk.later(days=91)
    desk.happen(event="booking.canceled")
    swept = janitor.sweep(desk.bench(), 100)
    assert (len(swept.events), len(swept.deliveries), len(swept.messages)) == (1, 1, 1)
    left = {}
    with desk.begin() as session:
        for model in (Delivery, WebhookMessage, OutboxEntry, Event):
            left[model] = session.scalar(select(func.count()).select_from(model))
    assert left == {Delivery: 0, WebhookMessage: 0, OutboxEntry: 1, Event: 1}
