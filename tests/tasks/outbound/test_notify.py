"""Notifying through the library: every connection is looked at, every end is told."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.models.reason import Reason
from tasks.outbound.deadline import Deadline
from tasks.outbound.guard import UrlRules
from tasks.outbound.networks import Address, NotResolved
from tasks.outbound.notify import AppriseNotifier
from tasks.outbound.sockets import BlockedConnection, watched
from tasks.secrets import SecretBox
from tests.support.hook_sink import HookSink, Reply
from tests.support.servers import free_port

BOX = SecretBox("a key for tests")
LOOPBACK = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)
MESSAGE = {"subject": "Hello", "text": "Zoë 🎙 is confirmed."}


def notify(address: str, rules: UrlRules = LOOPBACK, **values: Any) -> Outcome:
    notifier = AppriseNotifier(BOX, rules, **({"total_seconds": 1.0} | values))
    envelope = Envelope(UUID(int=7), UUID(int=1), BOX.seal(address))
    return notifier.notify(MESSAGE, envelope)


def at(sink: HookSink, path: str = "/hook") -> str:
    return f"json://127.0.0.1:{sink.port}{path}"


def test_title_and_text_arrive(hook_sink: HookSink) -> None:
    assert notify(at(hook_sink)) == Done()

    [hook] = hook_sink.requests
    assert hook.json["title"] == "Hello"
    assert hook.json["message"] == "Zoë 🎙 is confirmed."


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, GiveUp) for status in (400, 401, 404, 410)),
        *((status, TryAgain) for status in (302, 408, 429, 500, 503)),
    ],
)
def test_a_refusal_is_final_only_where_time_changes_nothing(
    hook_sink: HookSink, status: int, kind: type[Outcome]
) -> None:
    hook_sink.answer("/hook", Reply(status, headers={"Location": hook_sink.url("/x")}))

    outcome = notify(at(hook_sink))

    assert isinstance(outcome, kind)
    assert not isinstance(outcome, Done)
    assert outcome.status_code == status
    assert outcome.error == f"JSON answered {status}."
    assert [hook.path for hook in hook_sink.requests] == ["/hook"]


@pytest.mark.parametrize("kind", ["hang", "drop", "reset", "drip_headers", "drip_body"])
def test_a_lost_answer_is_told_as_unknown_and_never_waits_for_ever(
    hook_sink: HookSink, kind: Any
) -> None:
    hook_sink.answer("/hook", Reply(kind=kind))

    # Long enough for a slow machine to have sent it.
    outcome = notify(at(hook_sink), total_seconds=1.0)

    assert isinstance(outcome, TryAgain)
    assert outcome.is_unknown


def test_a_service_that_is_away_is_tried_again() -> None:
    assert notify(f"json://127.0.0.1:{free_port()}/") == TryAgain(
        "JSON cannot be reached."
    )


@pytest.mark.parametrize(
    "address", ["json://127.0.0.1/", "json://localhost/", "json://10.0.0.1/"]
)
def test_a_private_address_is_not_notified(address: str) -> None:
    outcome = notify(address, UrlRules(http=True))

    assert isinstance(outcome, GiveUp)
    assert outcome.reason is Reason.BLOCKED_ADDRESS


def test_plain_http_needs_the_administrators_word() -> None:
    outcome = notify("json://example.org/", UrlRules())

    assert isinstance(outcome, GiveUp)
    assert "https://" in outcome.error


def test_a_name_that_changes_its_mind_is_caught_as_it_connects(
    hook_sink: HookSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check hears a public address, the library is told a private one."""
    private = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: private)

    def public(host: str, seconds: float) -> Sequence[Address]:
        return [ipaddress.ip_address("93.184.216.34")]

    outcome = notify("json://rebind.example.org/", UrlRules(http=True), resolver=public)

    assert isinstance(outcome, GiveUp)
    assert outcome.reason is Reason.BLOCKED_ADDRESS
    assert hook_sink.n_connections == 0


def test_a_host_without_a_name_is_tried_again() -> None:
    def nowhere(host: str, seconds: float) -> Sequence[Address]:
        raise NotResolved("there is no such host")

    outcome = notify("jsons://nowhere.example.org/", resolver=nowhere)

    assert outcome == TryAgain(
        "nowhere.example.org cannot be reached (there is no such host)."
    )


def test_without_an_address_it_says_what_to_do() -> None:
    envelope = Envelope(UUID(int=7), UUID(int=1), None)

    outcome = AppriseNotifier(BOX).notify(MESSAGE, envelope)

    assert isinstance(outcome, GiveUp)
    assert "give it again" in outcome.error


def test_an_address_sealed_with_another_key_says_so() -> None:
    sealed = SecretBox("another key").seal("jsons://example.org/")

    outcome = AppriseNotifier(BOX).notify(
        MESSAGE, Envelope(UUID(int=7), UUID(int=1), sealed)
    )

    assert isinstance(outcome, GiveUp)
    assert "SECRET_KEY" in outcome.error


def test_the_log_never_holds_the_address(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        notify(f"json://u:very-secret@127.0.0.1:{free_port()}/token?-key=hidden")
        notify("discord://very-secret")

    assert "very-secret" not in caplog.text
    assert "hidden" not in caplog.text


def test_only_the_thread_that_watches_is_looked_at(hook_sink: HookSink) -> None:
    with Deadline(1.0) as deadline:
        with (
            watched(UrlRules(), deadline) as watch,
            socket.socket() as one,
            pytest.raises(BlockedConnection),
        ):
            one.connect(("127.0.0.1", hook_sink.port))
        assert watch.refusal is not None
        assert not watch.was_connected
        with socket.socket() as other:
            other.connect(("127.0.0.1", hook_sink.port))


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_UNIX, "/var/run/docker.sock"), (socket.AF_INET, ("localhost", 80))],
)
def test_a_watched_thread_opens_no_pipes_and_no_names(
    family: int, address: Any
) -> None:
    with (
        Deadline(1.0) as deadline,
        watched(LOOPBACK, deadline),
        socket.socket(family) as connection,
        pytest.raises(BlockedConnection),
    ):
        connection.connect(address)
