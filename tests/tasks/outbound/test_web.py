from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from standardwebhooks import Webhook

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.models.reason import Reason
from tasks.outbound.guard import UrlRules
from tasks.outbound.networks import Address, NotResolved
from tasks.outbound.web import WebPoster
from tasks.secrets import SecretBox, new_webhook_secret
from tests.support.certificates import Authority
from tests.support.hook_sink import HookSink, Reply
from tests.support.servers import free_port

BOX = SecretBox("a key for tests")
SECRET = new_webhook_secret()
ENVELOPE = Envelope(UUID(int=7), UUID(int=1), BOX.seal(SECRET))
BODY = {
    "type": "booking.confirmed",
    "timestamp": "2026-03-10T12:00:00+00:00",
    "data": {"guest": {"name": "Zoë 🎙"}},
}
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
POSTER = WebPoster(BOX, UrlRules(allow=LOOPBACK, http=True), total_seconds=20.0)

Post = Callable[..., Outcome]


def post(url: str, poster: WebPoster = POSTER) -> Outcome:
    return poster.post({"url": url, "body": BODY}, ENVELOPE)


def answers(*addresses: str) -> Callable[[str, float], Sequence[Address]]:
    """Return a resolver that gives these addresses, one call after the other."""
    queue = list(addresses)

    def resolver(host: str, seconds: float) -> Sequence[Address]:
        names = queue.pop(0) if len(queue) > 1 else queue[0]
        return [ipaddress.ip_address(name) for name in names.split()]

    return resolver


def test_a_receiver_can_verify_what_it_gets(hook_sink: HookSink) -> None:
    hook_sink.answer("/hook", Reply(201, b"thank you"))

    outcome = post(hook_sink.url())

    assert outcome == Done(201, "thank you")
    (hook,) = hook_sink.requests
    verified = Webhook(SECRET).verify(hook.body, hook.headers)
    assert verified == {"id": str(ENVELOPE.execution_id), **BODY}
    assert hook.headers["webhook-id"] == str(ENVELOPE.execution_id)
    assert hook.headers["content-type"] == "application/json"
    assert hook.headers["accept-encoding"] == "identity"
    assert hook.headers["host"] == f"127.0.0.1:{hook_sink.port}"


def test_every_attempt_has_the_same_body_and_id_and_a_fresh_timestamp(
    hook_sink: HookSink,
) -> None:
    first = datetime(2026, 3, 10, 12, tzinfo=UTC)
    for minutes in (0, 30):
        at = first + timedelta(minutes=minutes)
        post(hook_sink.url(), replace(POSTER, clock=lambda at=at: at))

    one, two = hook_sink.requests
    assert one.body == two.body
    assert one.headers["webhook-id"] == two.headers["webhook-id"]
    assert int(two.headers["webhook-timestamp"]) == int(
        one.headers["webhook-timestamp"]
    ) + int(timedelta(minutes=30).total_seconds())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(hook_sink: HookSink, status: int) -> None:
    there = {"Location": hook_sink.url("/elsewhere")}
    hook_sink.answer("/hook", Reply(status, headers=there))

    outcome = post(hook_sink.url())

    assert isinstance(outcome, TryAgain)
    assert "redirect" in outcome.error
    assert [hook.path for hook in hook_sink.requests] == ["/hook"]


@pytest.mark.parametrize("kind", ["hang", "drip_headers", "drip_body"])
def test_no_receiver_can_hold_us_longer_than_the_deadline(
    hook_sink: HookSink, kind: Any
) -> None:
    hook_sink.answer("/hook", Reply(200, kind=kind))

    began = time.monotonic()
    outcome = post(hook_sink.url(), replace(POSTER, total_seconds=1.0))

    assert time.monotonic() - began < 10.0  # it would hang for ever
    assert isinstance(outcome, TryAgain)
    assert outcome.is_unknown
    assert "did not answer within 1 seconds" in outcome.error


def test_a_lost_answer_is_unknown(hook_sink: HookSink) -> None:
    hook_sink.answer("/hook", Reply(kind="drop"))

    outcome = post(hook_sink.url())

    assert isinstance(outcome, TryAgain)
    assert outcome.is_unknown


def test_a_huge_answer_counts_and_only_its_start_is_kept(hook_sink: HookSink) -> None:
    hook_sink.answer("/hook", Reply(200, kind="huge"))

    outcome = post(hook_sink.url())

    assert isinstance(outcome, Done)
    assert outcome.response == "x" * 2_000


def test_a_compressed_answer_is_not_unpacked(hook_sink: HookSink) -> None:
    packed = {"Content-Encoding": "gzip"}
    hook_sink.answer("/hook", Reply(200, b"not gzip at all", packed))

    assert post(hook_sink.url()) == Done(200, "not gzip at all")


def test_nobody_listens() -> None:
    outcome = post(f"http://127.0.0.1:{free_port()}/")

    assert isinstance(outcome, TryAgain)
    assert not outcome.is_unknown
    assert "cannot be reached (no connection)" in outcome.error


def test_an_unknown_host_may_be_known_later() -> None:
    def nothing(host: str, seconds: float) -> Sequence[Address]:
        raise NotResolved("there is no such host")

    outcome = post("https://example.com/", replace(POSTER, resolver=nothing))

    assert outcome == TryAgain("example.com cannot be reached (there is no such host).")


def test_private_addresses_are_blocked_before_any_connection(
    hook_sink: HookSink,
) -> None:
    strict = replace(
        POSTER, rules=UrlRules(http=True, ports=frozenset({hook_sink.port}))
    )

    literal = post(hook_sink.url(), strict)
    named = post(
        f"http://example.com:{hook_sink.port}/",
        replace(strict, resolver=answers("93.184.216.34 127.0.0.1")),
    )

    assert isinstance(literal, GiveUp)
    assert literal.reason is Reason.BLOCKED_ADDRESS
    assert isinstance(named, GiveUp)
    assert named.reason is Reason.BLOCKED_ADDRESS
    assert hook_sink.n_connections == 0


def test_a_name_is_looked_up_once_and_its_address_pinned(hook_sink: HookSink) -> None:
    rebinding = answers("127.0.0.1", "10.0.0.1")
    poster = replace(POSTER, resolver=rebinding)
    url = f"http://receiver.test:{hook_sink.port}/hook"

    assert isinstance(post(url, poster), Done)
    (hook,) = hook_sink.requests
    assert hook.headers["host"] == f"receiver.test:{hook_sink.port}"

    second = post(url, poster)  # the name now points elsewhere: looked at again
    assert isinstance(second, GiveUp)
    assert len(hook_sink.requests) == 1


def test_a_rule_without_a_secret_is_not_sent(hook_sink: HookSink) -> None:
    unsigned = replace(ENVELOPE, secret=None)

    outcome = POSTER.post({"url": hook_sink.url(), "body": BODY}, unsigned)

    assert isinstance(outcome, GiveUp)
    assert outcome.reason is Reason.BAD_MESSAGE
    assert hook_sink.requests == []


def test_a_secret_sealed_with_another_key_is_told(hook_sink: HookSink) -> None:
    outcome = post(hook_sink.url(), replace(POSTER, box=SecretBox("new key")))

    assert isinstance(outcome, GiveUp)
    assert "SECRET_KEY" in outcome.error


def test_proxies_of_the_environment_are_not_used(
    hook_sink: HookSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert isinstance(post(hook_sink.url()), Done)


class TestTls:
    @pytest.fixture
    def authority(self, tmp_path: Path) -> Authority:
        return Authority(tmp_path)

    @pytest.fixture
    def secure_sink(self, authority: Authority) -> Iterator[HookSink]:
        with HookSink(tls=authority.serve("receiver.test")) as sink:
            yield sink

    def test_the_certificate_must_be_that_of_the_name(
        self, authority: Authority, secure_sink: HookSink
    ) -> None:
        poster = replace(POSTER, tls=authority.trust(), resolver=answers("127.0.0.1"))

        right = post(secure_sink.url(host="receiver.test"), poster)
        wrong = post(secure_sink.url(host="another.test"), poster)

        assert right == Done(200, "")
        assert isinstance(wrong, TryAgain)
        assert "certificate" in wrong.error
        assert len(secure_sink.requests) == 1

    def test_an_untrusted_certificate_is_refused(self, secure_sink: HookSink) -> None:
        poster = replace(POSTER, resolver=answers("127.0.0.1"))

        outcome = post(secure_sink.url(host="receiver.test"), poster)

        assert isinstance(outcome, TryAgain)
        assert "certificate" in outcome.error
        assert secure_sink.requests == []

    def test_a_drip_below_tls_cannot_outlive_the_deadline(
        self, authority: Authority, secure_sink: HookSink
    ) -> None:
        secure_sink.answer("/hook", Reply(200, kind="drip_headers"))
        poster = replace(
            POSTER,
            tls=authority.trust(),
            resolver=answers("127.0.0.1"),
            total_seconds=1.0,
        )

        began = time.monotonic()
        outcome = post(secure_sink.url(host="receiver.test"), poster)

        assert time.monotonic() - began < 10.0
        assert isinstance(outcome, TryAgain)
        assert outcome.is_unknown


def test_the_body_does_not_depend_on_the_order_of_keys(hook_sink: HookSink) -> None:
    turned: Mapping[str, Any] = dict(reversed(list(BODY.items())))
    for body in (BODY, turned):
        POSTER.post({"url": hook_sink.url(), "body": body}, ENVELOPE)

    one, two = hook_sink.requests
    assert one.body == two.body
    assert json.loads(one.body)["data"] == BODY["data"]
