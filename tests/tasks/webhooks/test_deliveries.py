"""From a delivery to the other side, over a real line."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tasks.automation.actions.base import Done, Letter, Outcome
from tasks.holds.setting import What, hold, lift
from tasks.lanes import deliveries, rescue
from tasks.models import AttemptOutcome, Channel, DeliveryState, Reason
from tasks.webhooks.claiming import LEASE, claim
from tasks.webhooks.rotating import ROTATION, rotate_secret
from tasks.webhooks.settling import Acted, settle
from tasks.webhooks.testing import send_test
from tests.support.couriers import Answers, verified, with_courier
from tests.support.hook_sink import Reply
from tests.tasks.webhooks.conftest import ACTOR, BOX, Desk


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


def test_the_body_is_json_that_keeps_every_letter(desk: Desk) -> None:
    desk.endpoint()
    desk.happen()
    desk.work()
    (hook,) = desk.sink.requests
    assert "Zoë".encode() in hook.body
    assert json.loads(hook.body)["data"]["podcast"]["id"] == "show"
    assert hook.headers["content-type"] == "application/json"


def test_an_answer_that_cannot_be_written_down_keeps_no_other_from_it(
    desk: Desk,
) -> None:
    for path in ("/a", "/b", "/c"):
        desk.endpoint(path)
    desk.happen()
    desk.fan_out()
    half = "\udcff"  # half a letter, which no database takes

    def say(letter: Letter) -> Outcome:
        return Done(200, response=half if letter.url.endswith("/b") else "Ok")

    swept = deliveries.sweep(with_courier(desk.bench(), Answers(say)), 10)
    assert (len(swept.delivered), len(swept.lost)) == (2, 1)
    states = sorted(row.state for row in desk.deliveries())
    assert states == [*[DeliveryState.DELIVERED] * 2, DeliveryState.RUNNING]
