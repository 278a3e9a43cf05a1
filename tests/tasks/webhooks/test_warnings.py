"""A receiver that is down for a day: warned of once, switched off, and caught up."""

from __future__ import annotations

from datetime import timedelta

from tasks.lanes import deliveries
from tasks.models import AdminMail, DeliveryState, EndpointEnd, OperationKind
from tasks.webhooks.endpoints import enable
from tasks.webhooks.replays import replay_span
from tests.support.hook_sink import Reply
from tests.support.many import do_all
from tests.support.operators import operator
from tests.tasks.webhooks.conftest import ACTOR, Desk

ADMIN = "ada@example.org"


def _mails(desk: Desk) -> list[AdminMail]:
    return sorted(desk.world.all(AdminMail), key=lambda row: row.id)


def _until_off(desk: Desk) -> None:
    """Let things happen to an endpoint that answers nothing, for a day and more."""
    for _ in range(13):
        desk.happen()
        desk.work()
        desk.later(hours=3)


def test_a_receiver_that_is_down_for_a_day_is_warned_of_once_and_misses_nothing(
    desk: Desk,
) -> None:
    with desk.begin() as session:
        operator(session, ADMIN, "admin")
    endpoint = desk.endpoint()
    desk.sink.answer("/hook", Reply(503))
    began = desk.now
    _until_off(desk)

    warning, ending = _mails(desk)
    assert {warning.address, ending.address} == {ADMIN}
    assert (warning.subject, ending.subject) == (
        "Webhook endpoint “127.0.0.1” is failing",
        "Webhook endpoint “127.0.0.1” was switched off",
    )
    assert ending.created_at - warning.created_at >= timedelta(hours=6)
    assert began + timedelta(hours=24) <= ending.created_at
    assert desk.fresh(endpoint).disabled_reason is EndpointEnd.FAILING
    reported = [e for e in desk.world.events() if e.type.startswith("endpoint.")]
    assert [e.type for e in reported] == ["endpoint.warned", "endpoint.disabled"]

    n_before = len(desk.sink.requests)
    desk.sink.answer("/hook", Reply(204))
    with desk.begin() as session:
        since = enable(session, endpoint.id, ACTOR, desk.now)
        where = {"endpoint_id": str(endpoint.id)}
        retry = (OperationKind.RETRY_DELIVERIES, where, ACTOR)
        assert since is not None
        assert do_all(session, *retry, desk.now) > 0
        replay_span(session, endpoint.id, since, desk.now, ACTOR, desk.now)
    while (done := desk.work()).delivered or done.retried:
        pass
    assert {row.state for row in desk.deliveries()} == {DeliveryState.DELIVERED}
    told = [hook.headers["webhook-id"] for hook in desk.sink.requests[n_before:]]
    events = [str(event.id) for event in desk.world.events()]
    assert sorted(told) == sorted(events)
    assert len(_mails(desk)) == 2


def test_what_is_gone_for_good_is_told_at_once(desk: Desk) -> None:
    with desk.begin() as session:
        operator(session, ADMIN, "admin")
    desk.endpoint(description="Website")
    desk.sink.answer("/hook", Reply(410))
    desk.happen()
    desk.work()
    (mail,) = _mails(desk)
    assert mail.subject == "Webhook endpoint “Website” was switched off"
    assert "410" in mail.body


def test_deliveries_of_a_failing_endpoint_need_no_admin(desk: Desk) -> None:
    desk.endpoint()
    desk.sink.answer("/hook", Reply(410))
    desk.happen()
    assert len(deliveries.sweep(desk.bench(), 10).failed) == 0
    assert len(desk.work().failed) == 1
    assert _mails(desk) == []
