"""Where an endpoint may not lead: refused when it is saved, and again at every call."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from tasks.automation.actions import ACTIONS
from tasks.errors import InvalidInput
from tasks.lane import Bench
from tasks.lanes import deliveries
from tasks.models import Endpoint, Reason
from tasks.outbound.guard import UrlRules
from tasks.outbound.networks import Address
from tasks.outbound.web import WebPoster
from tasks.webhooks.endpoint_fields import EndpointChange
from tasks.webhooks.endpoints import add_endpoint
from tasks.webhooks.testing import send_test
from tests.tasks.webhooks.conftest import ACTOR, BOX, Desk

BAD = (
    *("javascript:alert(1)", "http://example.com/hook", "file:///etc/passwd"),
    *("gopher://127.0.0.1:6379/_INFO", "data:text/html,x", "//127.0.0.1/x"),
    *("https:evil.com", "http:///127.0.0.1/", "https://127.0.0.1/"),
    *("https://localhost/", "https://LOCALHOST.", "https://2130706433/"),
    *("https://0x7f.1/", "https://0177.0.0.1/", "https://127.1/", "https://0/"),
    *("https://169.254.169.254/latest/meta-data/", "https://[fd00:ec2::254]/"),
    *("https://168.63.129.16/", "https://100.100.100.200/", "https://192.0.0.192/"),
    *("https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/"),
    *("https://[fe80::1%25eth0]/", "https://127.0.0.1\\@example.com/"),
    *("https://example.com\\@127.0.0.1/", "https://example.com@127.0.0.1/"),
    *("https://user:pass@example.com/", "https://example.com:0/"),
    *("https://example.com:99999/", "https://example.com:22/"),
    *("https://exa mple.com/", "https://exa\tmple.com/", "https://intranet/"),
    *("https://db.internal/", "https://x.localhost/"),
)


class Names:
    """A name server that changes its mind with every question."""

    def __init__(self, *answers: str) -> None:
        self._answers = [
            [ipaddress.ip_address(each) for each in answer.split()]
            for answer in answers
        ]

    def __call__(self, host: str, seconds: float) -> Sequence[Address]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def _calling(desk: Desk, courier: WebPoster) -> Bench:
    bench = desk.bench()
    return replace(bench, effects=replace(bench.effects, courier=courier))


def test_what_is_refused_when_it_is_saved_is_refused_when_it_is_sent(
    desk: Desk,
) -> None:
    good = EndpointChange("https://example.org/hook")
    with desk.begin() as session:
        add = partial(
            add_endpoint, session, desk.world.id, actor=ACTOR, box=BOX, now=desk.now
        )
        for url in BAD:
            with pytest.raises(InvalidInput) as refused:
                add(change=EndpointChange(url))
            assert refused.value.field == "url", url
            endpoint, _ = add(change=good)
            endpoint.url = url  # it got there all the same, long ago perhaps
            send_test(session, endpoint.id, ACTOR, desk.now)
    bench = _calling(desk, WebPoster(BOX, clock=lambda: desk.now))
    assert len(deliveries.sweep(bench, 100).failed) == len(BAD)
    assert {row.reason for row in desk.deliveries()} == {Reason.BLOCKED_ADDRESS}
    assert desk.sink.n_connections == 0


def test_a_name_that_leads_inside_when_it_is_called_is_not_followed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = UrlRules(http=True, ports=frozenset({desk.sink.port}))
    public = "93.184.216.34"
    names = Names(f"{public} 10.0.0.1", public, "127.0.0.1", f"{public} 127.0.0.1")
    monkeypatch.setattr(ACTIONS["webhook"], "_rules", rules)
    monkeypatch.setattr(ACTIONS["webhook"], "_resolver", names)
    change = EndpointChange(f"http://rebinds.example.org:{desk.sink.port}/hook")

    def add() -> Endpoint:
        with desk.begin() as session:
            return add_endpoint(
                session, desk.world.id, change, ACTOR, box=BOX, now=desk.now
            )[0]

    with pytest.raises(InvalidInput, match="private or local"):
        add()
    endpoint = add()  # a moment later every address of it is public
    courier = WebPoster(BOX, rules, clock=lambda: desk.now, resolver=names)
    for _ in range(2):
        with desk.begin() as session:
            send_test(session, endpoint.id, ACTOR, desk.now)
        assert len(deliveries.sweep(_calling(desk, courier), 10).failed) == 1
    assert {row.reason for row in desk.deliveries()} == {Reason.BLOCKED_ADDRESS}
    assert desk.sink.n_connections == 0
