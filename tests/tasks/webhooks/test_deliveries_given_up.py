"""Deliveries that end without success, and endpoints that are switched off."""

from __future__ import annotations

from datetime import timedelta

from tasks.automation.actions.base import TryAgain
from tasks.lanes import deliveries, rescue
from tasks.models import DeliveryState, EndpointEnd, Reason
from tasks.webhooks.claiming import LEASE, claim
from tasks.webhooks.endpoints import disable, enable, remove
from tasks.webhooks.health import OFF_AFTER
from tasks.webhooks.rescuing import CRASHES_MAX
from tasks.webhooks.settling import Acted, settle
from tests.support.couriers import Answers, with_courier
from tests.support.hook_sink import Reply
from tests.tasks.webhooks.conftest import ACTOR, Desk


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
