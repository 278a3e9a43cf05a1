"""Fetching a page: bounded in time and size, and never from inside the house."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tasks.outbound.fetch import WebFetcher
from tasks.outbound.guard import UrlRules
from tasks.outbound.networks import Address, NotResolved
from tasks.sources.fetching import SIZE_MAX, Fetched, NotFetched, NotModified
from tests.support.hook_sink import HookSink, Reply
from tests.support.servers import free_port

LOOPBACK = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)
FETCHER = WebFetcher(LOOPBACK, total_seconds=1.0, size_max=100_000)


def test_a_page_comes_with_what_to_send_along_next_time(hook_sink: HookSink) -> None:
    headers = {"ETag": 'W/"7"', "Last-Modified": "Tue, 10 Mar 2026 12:00:00 GMT"}
    hook_sink.answer("/feed", Reply(body=b"<rss/>", headers=headers))
    answer = FETCHER.fetch(hook_sink.url("/feed"))
    assert answer == Fetched(b"<rss/>", *headers.values())
    [asked] = hook_sink.requests
    assert (asked.method, asked.headers["accept-encoding"]) == ("GET", "identity")
    assert "if-none-match" not in asked.headers


def test_a_tag_that_cannot_be_sent_back_is_forgotten(hook_sink: HookSink) -> None:
    hook_sink.answer("/feed", Reply(headers={"ETag": "x" * 600}))
    answer = FETCHER.fetch(hook_sink.url("/feed"))
    assert answer == Fetched(b"", None, None)


def test_not_modified_is_no_page(hook_sink: HookSink) -> None:
    hook_sink.answer("/feed", Reply(304))
    assert FETCHER.fetch(hook_sink.url("/feed"), etag='"1"') == NotModified()
    assert hook_sink.requests[0].headers["if-none-match"] == '"1"'


@pytest.mark.parametrize("kind", ["hang", "drip_headers", "drip_body"])
def test_a_slow_server_is_left_in_time(hook_sink: HookSink, kind: str) -> None:
    hook_sink.answer("/feed", Reply(kind=kind))  # type: ignore[arg-type]
    started = time.monotonic()
    answer = replace(FETCHER, size_max=SIZE_MAX).fetch(hook_sink.url("/feed"))
    assert isinstance(answer, NotFetched)
    assert "within 1 seconds" in answer.sentence
    assert time.monotonic() - started < 5  # it would drip for ever


def test_an_answer_that_does_not_end_is_left_at_the_limit(hook_sink: HookSink) -> None:
    hook_sink.answer("/feed", Reply(kind="huge"))
    answer = FETCHER.fetch(hook_sink.url("/feed"))
    assert isinstance(answer, NotFetched)


def test_the_size_that_is_announced_is_believed(hook_sink: HookSink) -> None:
    hook_sink.answer("/feed", Reply(body=b"x" * 100_000))
    answer = FETCHER.fetch(hook_sink.url("/feed"))
    assert isinstance(answer, NotFetched)
    assert "too large" in answer.sentence
    hook_sink.answer("/feed", Reply(body=b"x" * 99_999))
    assert isinstance(FETCHER.fetch(hook_sink.url("/feed")), Fetched)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/feed",
        "http://[::1]/feed",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost/feed",
        "http://2130706433/feed",
        "gopher://example.org/",
    ],
)
def test_what_is_inside_is_not_fetched(url: str) -> None:
    answer = WebFetcher(UrlRules(http=True), total_seconds=1.0).fetch(url)
    assert isinstance(answer, NotFetched)


def test_a_name_that_leads_inside_is_not_fetched() -> None:
    def inside(_host: str, _seconds: float) -> Sequence[Address]:
        return [ipaddress.ip_address("10.0.0.7")]

    fetcher = WebFetcher(UrlRules(http=True), resolver=inside)
    answer = fetcher.fetch("http://feeds.example.org/")
    assert isinstance(answer, NotFetched)
    assert "private or local" in answer.sentence


def test_a_redirect_that_leads_inside_is_not_followed(hook_sink: HookSink) -> None:
    only_sink = UrlRules(allow=(ipaddress.ip_network("127.0.0.1/32"),), http=True)
    target = "http://127.0.0.2/secret"
    hook_sink.answer("/feed", Reply(302, headers={"Location": target}))
    answer = replace(FETCHER, rules=only_sink).fetch(hook_sink.url("/feed"))
    assert isinstance(answer, NotFetched)
    assert "private or local" in answer.sentence


def test_a_redirect_to_what_is_no_address_is_a_sentence(hook_sink: HookSink) -> None:
    hook_sink.answer("/feed", Reply(302, headers={"Location": "http://[::1"}))
    answer = FETCHER.fetch(hook_sink.url("/feed"))
    assert answer == NotFetched("This is not a web address.")


def test_a_name_that_nobody_knows_is_a_sentence() -> None:
    def nobody(_host: str, _seconds: float) -> Sequence[Address]:
        raise NotResolved("there is no such host")

    answer = replace(FETCHER, resolver=nobody).fetch("http://nowhere.example/")
    assert answer == NotFetched(
        "nowhere.example cannot be reached (there is no such host)."
    )


def test_a_closed_door_is_a_sentence() -> None:
    answer = FETCHER.fetch(f"http://127.0.0.1:{free_port()}/")
    assert isinstance(answer, NotFetched)
    assert "cannot be reached" in answer.sentence


def test_where_nobody_answers_at_an_address_the_next_one_is_asked(
    hook_sink: HookSink,
) -> None:
    hook_sink.answer("/feed", Reply(body=b"<rss/>"))
    port = hook_sink.url("").rpartition(":")[2].strip("/")
    found = [ipaddress.ip_address(each) for each in ("127.0.0.9", "127.0.0.1")]
    fetcher = replace(FETCHER, resolver=lambda _host, _seconds: found)
    answer = fetcher.fetch(f"http://feeds.example:{port}/feed")
    assert isinstance(answer, Fetched)
    [asked] = hook_sink.requests
    assert asked.headers["host"] == f"feeds.example:{port}"


def test_an_address_inside_the_house_is_refused_wherever_it_stands() -> None:
    found = [ipaddress.ip_address(each) for each in ("127.0.0.1", "10.0.0.1")]
    fetcher = replace(FETCHER, resolver=lambda _host, _seconds: found)
    answer = fetcher.fetch(f"http://feeds.example:{free_port()}/feed")
    assert isinstance(answer, NotFetched)
    assert "10.0.0.1" not in answer.sentence
