"""From a delivery to the other side, over a real line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from standardwebhooks import Webhook

from tasks.automation.actions.base import Done, Letter, Outcome, TryAgain
from tasks.executing.hosts import HANGING, HANGING_MAX, Hosts
from tasks.holds.setting import What, hold, lift
from tasks.lane import Bench
from tasks.lanes import deliveries, rescue
from tasks.models import (
    AttemptOutcome,
    Channel,
    Delivery,
    DeliveryState,
    EndpointEnd,
    Reason,
)
from tasks.webhooks.claiming import LEASE, claim, host_of_url
from tasks.webhooks.endpoints import disable, enable, remove
from tasks.webhooks.health import OFF_AFTER
from tasks.webhooks.rescuing import CRASHES_MAX
from tasks.webhooks.room import IN_FLIGHT_MAX
from tasks.webhooks.rotating import ROTATION, rotate_secret
from tasks.webhooks.settling import Acted, settle
from tasks.webhooks.testing import send_test
from tests.support.hook_sink import Hook, Reply
from tests.tasks.webhooks.conftest import ACTOR, BOX, Desk


class Answers:
    """A courier that says what it is told to, and remembers the letters."""

    def __init__(self, say: Callable[[Letter], Outcome]) -> None:
        self.say = say
        self.letters: list[Letter] = []

    def deliver(self, letter: Letter) -> Outcome:
        self.letters.append(letter)
        return self.say(letter)


def with_courier(bench: Bench, courier: Any) -> Bench:
    return replace(bench, effects=replace(bench.effects, courier=courier))


def verified(hook: Hook, secret: str, desk: Desk, monkeypatch: Any) -> Any:
    """Check a signature as a receiver does, at the desk's own time."""
    stamp = int(hook.headers["webhook-timestamp"])
    assert stamp == int(desk.now.timestamp())
    monkeypatch.setattr(Webhook, "_Webhook__verify_timestamp", lambda *_: desk.now)
    return Webhook(secret).verify(hook.body, hook.headers)


def test_a_receiver_can_verify_what_it_gets(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.endpoint()
    desk.happen()
    swept = desk.work()
    assert len(swept.delivered) == 1
    (hook,) = desk.sink.requests
    told = verified(hook, desk.secret, desk, monkeypatch)
    (event,) = desk.world.events()
    assert told["id"] == hook.headers["webhook-id"] == str(event.id)
    assert told["type"] == "booking.confirmed"
    assert told["data"]["booking"]["guest_name"] == "Zoë"
    row = desk.only()
    assert (row.state, row.status_code, row.attempt) == ("delivered", 200, 1)
    (attempt,) = desk.attempts()
    assert attempt.outcome is AttemptOutcome.SUCCEEDED


def test_a_retry_says_the_same_with_a_fresh_signature(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.endpoint()
    desk.sink.answer("/hook", Reply(503, body=b"not\x00now"), Reply(204))
    desk.happen()
    assert len(desk.work().retried) == 1
    row = desk.only()
    wait = row.run_at - desk.now
    assert timedelta(seconds=4) <= wait <= timedelta(seconds=6)
    assert desk.deliver().delivered == ()
    desk.later(seconds=10)
    assert len(desk.deliver().delivered) == 1
    first, second = desk.sink.requests
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
    verified(second, desk.secret, desk, monkeypatch)
    assert [each.status_code for each in desk.attempts()] == [503, 204]


def test_what_is_held_is_not_posted_and_follows_untouched(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    for what in (
        What(),
        What(congregation_id=endpoint.congregation_id),
        What(channel=Channel.DELIVERIES),
    ):
        with desk.begin() as session:
            held = hold(session, what, "x", ACTOR, now=desk.now)
        assert desk.work().delivered == ()
        assert (desk.only().attempt, desk.only().state) == (0, DeliveryState.PENDING)
        with desk.begin() as session:
            lift(session, held.id, ACTOR, how="sent", now=desk.now)
    with desk.begin() as session:
        hold(session, What(channel=Channel.EMAIL), "x", ACTOR, now=desk.now)
    assert len(desk.work().delivered) == 1


def test_retry_after_is_waited_for(desk: Desk) -> None:
    desk.endpoint()
    desk.sink.answer("/hook", Reply(429, headers={"Retry-After": "3600"}), Reply())
    desk.happen()
    desk.work()
    assert desk.only().run_at == desk.now + timedelta(hours=1)


def test_a_redirect_is_not_followed(desk: Desk) -> None:
    desk.endpoint()
    desk.sink.answer("/hook", Reply(307, headers={"Location": desk.sink.url("/x")}))
    desk.happen()
    assert len(desk.work().retried) == 1
    assert [hook.path for hook in desk.sink.requests] == ["/hook"]
    assert "redirect" in (desk.only().error or "")


def test_after_three_days_it_is_given_up(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    desk.fan_out()
    courier = Answers(lambda _: TryAgain("no"))
    started = desk.now
    for _ in range(20):
        deliveries.sweep(with_courier(desk.bench(), courier), 10)
        with desk.begin() as session:  # its health is another test's matter
            session.merge(desk.fresh(endpoint)).failing_since = None
        if desk.only().state is not DeliveryState.PENDING:
            break
        desk.now = desk.only().run_at
    row = desk.only()
    assert (row.state, row.reason, row.attempt) == (
        DeliveryState.FAILED,
        Reason.ATTEMPTS_USED_UP,
        10,
    )
    assert timedelta(days=2) < desk.now - started < timedelta(days=4)


def test_410_switches_the_endpoint_off_and_ends_what_waits(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.sink.answer("/hook", Reply(410))
    desk.happen()
    desk.happen(event="booking.declined")
    desk.fan_out()
    deliveries.sweep(desk.bench(), 1)
    states = sorted(row.state for row in desk.deliveries())
    assert states == ["disabled", "failed"]
    off = desk.fresh(endpoint)
    assert (off.enabled, off.disabled_reason) == (False, EndpointEnd.GONE)
    desk.happen(event="booking.canceled")
    desk.work()
    assert len(desk.sink.requests) == 1


def test_an_address_that_became_private_is_refused_at_the_last_moment(
    desk: Desk,
) -> None:
    endpoint = desk.endpoint()
    with desk.begin() as session:
        session.merge(endpoint).url = "https://10.0.0.1/hook"
    desk.happen()
    assert len(desk.work().failed) == 1
    assert desk.only().reason is Reason.BLOCKED_ADDRESS


def test_for_a_day_both_secrets_are_good(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = desk.endpoint()
    former = desk.secret
    with desk.begin() as session:
        _, secret = rotate_secret(session, endpoint.id, ACTOR, box=BOX, now=desk.now)
    desk.happen()
    desk.work()
    (hook,) = desk.sink.requests
    verified(hook, former, desk, monkeypatch)
    verified(hook, secret, desk, monkeypatch)
    desk.now += ROTATION
    desk.happen(event="booking.declined")
    desk.work()
    hook = desk.sink.requests[-1]
    assert " " not in hook.headers["webhook-signature"]
    verified(hook, secret, desk, monkeypatch)


def test_a_leaked_secret_signs_nothing_any_more(desk: Desk) -> None:
    endpoint = desk.endpoint()
    with desk.begin() as session:
        rotate_secret(
            session, endpoint.id, ACTOR, box=BOX, now=desk.now, keep_former=False
        )
    desk.happen()
    desk.work()
    (hook,) = desk.sink.requests
    assert " " not in hook.headers["webhook-signature"]


def test_a_test_tells_of_nothing(desk: Desk) -> None:
    endpoint = desk.endpoint(event_types=["booking.declined"])
    with desk.begin() as session:
        send_test(session, endpoint.id, ACTOR, desk.now)
    assert len(desk.deliver().delivered) == 1
    (hook,) = desk.sink.requests
    assert hook.json["type"] == "endpoint.test"
    assert desk.world.events() == []


def test_switching_off_and_removing_end_what_waits(desk: Desk) -> None:
    first, second = desk.endpoint("/a"), desk.endpoint("/b")
    desk.happen()
    desk.fan_out()
    with desk.begin() as session:
        disable(session, first.id, ACTOR, desk.now)
        remove(session, second.id, ACTOR, desk.now)
    assert {row.state for row in desk.deliveries()} == {DeliveryState.DISABLED}
    assert {row.reason for row in desk.deliveries()} == {
        Reason.ENDPOINT_DISABLED,
        Reason.ENDPOINT_DELETED,
    }
    assert desk.deliver() == deliveries.DeliveriesSweep()
    assert desk.sink.requests == []


def test_what_is_under_way_when_its_endpoint_is_switched_off_is_not_tried_again(
    desk: Desk,
) -> None:
    endpoint = desk.endpoint()
    desk.happen()
    desk.fan_out()
    bench = desk.bench()
    with desk.begin() as session:
        (held,) = claim(session, bench, limit=8)
    with desk.begin() as session:
        disable(session, endpoint.id, ACTOR, desk.now)
    with desk.begin() as session:
        settle(session, [Acted(held, TryAgain("no"))], worker="w", now=desk.now)
    row = desk.only()
    assert (row.state, row.reason) == ("disabled", Reason.ENDPOINT_DISABLED)


def test_a_late_writer_changes_nothing(desk: Desk) -> None:
    desk.endpoint()
    desk.happen()
    desk.fan_out()
    bench = desk.bench()
    with desk.begin() as session:
        (late,) = claim(session, bench, limit=8)
    desk.now += LEASE + timedelta(seconds=1)
    swept = rescue.sweep(bench, 10)
    assert swept.deliveries == (late.delivery_id,)
    with desk.begin() as session:
        words = settle(session, [Acted(late, Done(200))], worker="w", now=desk.now)
    assert words == {late.delivery_id: "lost"}
    assert desk.only().state is DeliveryState.PENDING
    assert len(desk.deliver().delivered) == 1
    outcomes = [each.outcome.value for each in desk.attempts()]
    assert outcomes == ["unknown", "succeeded"]


def test_what_goes_down_with_worker_after_worker_is_given_up(desk: Desk) -> None:
    desk.endpoint()
    desk.happen()
    desk.fan_out()
    for _ in range(CRASHES_MAX):
        with desk.begin() as session:
            assert claim(session, desk.bench(), limit=8)
        desk.now += LEASE + timedelta(seconds=1)
        rescue.sweep(desk.bench(), 10)
    row = desk.only()
    assert (row.state, row.reason) == ("failed", Reason.WORKER_CRASHES)


def test_a_bug_of_one_delivery_does_not_stop_the_others(desk: Desk) -> None:
    good, bad = desk.endpoint("/good"), desk.endpoint("/bad")
    desk.happen()
    desk.fan_out()

    def say(letter: Letter) -> Outcome:
        if letter.url.endswith("/bad"):
            raise ValueError
        return Done(200)

    swept = deliveries.sweep(with_courier(desk.bench(), Answers(say)), 10)
    assert (len(swept.delivered), len(swept.retried)) == (1, 1)
    states = {row.endpoint_id: row.state for row in desk.deliveries()}
    assert (states[good.id], states[bad.id]) == ("delivered", "pending")


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


def test_a_day_of_failures_switches_an_endpoint_off_after_one_warning(
    desk: Desk,
) -> None:
    endpoint = desk.endpoint()
    courier = Answers(lambda _: TryAgain("no"))
    started, warned = desk.now, []
    while desk.fresh(endpoint).enabled and desk.now < started + timedelta(days=3):
        desk.happen()
        desk.fan_out()
        deliveries.sweep(with_courier(desk.bench(), courier), 10)
        if (at := desk.fresh(endpoint).warned_at) and at not in warned:
            warned.append(at)
        desk.later(hours=1)
    off = desk.fresh(endpoint)
    assert off.disabled_reason is EndpointEnd.FAILING
    assert len(warned) == 1
    assert off.disabled_at is not None
    assert off.disabled_at - started >= OFF_AFTER
    assert warned[0] - started < timedelta(hours=8)
    assert {row.state for row in desk.deliveries()} == {DeliveryState.DISABLED}
    with desk.begin() as session:
        assert enable(session, endpoint.id, ACTOR, desk.now) == off.disabled_at
    assert desk.fresh(endpoint).failing_since is None


def test_a_good_answer_forgives_the_bad_ones(desk: Desk) -> None:
    endpoint = desk.endpoint()
    desk.sink.answer("/hook", Reply(500), Reply(200))
    desk.happen()
    desk.work()
    assert (desk.fresh(endpoint).failures, desk.fresh(endpoint).failing_since) == (
        1,
        desk.now,
    )
    desk.later(minutes=1)
    desk.deliver()
    good = desk.fresh(endpoint)
    assert (good.failures, good.failing_since) == (0, None)
    assert good.delivered_at == desk.now


def test_the_body_is_json_that_keeps_every_letter(desk: Desk) -> None:
    desk.endpoint()
    desk.happen()
    desk.work()
    (hook,) = desk.sink.requests
    assert "Zoë".encode() in hook.body
    assert json.loads(hook.body)["data"]["podcast"]["id"] == "show"
    assert hook.headers["content-type"] == "application/json"
