"""The lane ``feeds``: a real server, real answers, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from tasks.lanes.feeds import EVERY
from tasks.models import Feed, FeedItem
from tests.support.feeds import Entry, rss
from tests.support.hook_sink import Reply
from tests.support.statements import statements
from tests.tasks.automation.conftest import NOW
from tests.tasks.lanes.feeds.conftest import OLD, Desk

FRESH = Entry("g-3", "Third", NOW + timedelta(minutes=10))


def test_the_first_look_imports_without_a_word(desk: Desk) -> None:
    desk.world.rule("episode.published")
    desk.answer(*OLD)
    assert len(desk.sweep().changed) == 1
    assert set(desk.episodes) == {"First", "Second"}
    first = desk.episodes["First"]
    assert (first.status, first.published_at) == ("published", OLD[0].at)
    assert first.description == "About & around bells."
    assert desk.events == []
    assert desk.world.executions() == []
    assert (desk.feed.title, desk.feed.n_items) == ("Kirchplatz", 2)


def test_an_episode_that_is_gained_is_announced_once(desk: Desk) -> None:
    desk.world.rule("episode.published")
    desk.answer(*OLD)
    desk.sweep()
    desk.answer(FRESH, *OLD)
    desk.sweep()
    desk.sweep()
    assert desk.events == ["episode.published"]
    assert len(desk.world.executions()) == 1
    assert desk.episodes["Third"].published_at == FRESH.at


def test_an_episode_that_is_older_than_the_subscription_comes_in_silence(
    desk: Desk,
) -> None:
    desk.answer(OLD[0])
    desk.sweep()
    desk.answer(*OLD)
    desk.sweep()
    assert len(desk.episodes) == 2
    assert desk.events == []


def test_an_episode_that_changed_is_changed_here(desk: Desk) -> None:
    desk.answer(*OLD)
    desk.sweep()
    desk.answer(replace(OLD[0], title="First, again", number="9"), OLD[1])
    desk.sweep()
    assert set(desk.episodes) == {"First, again", "Second"}
    assert desk.episodes["First, again"].episode_number == 9
    assert desk.events == []


def test_an_episode_that_vanished_stays_and_is_marked(desk: Desk) -> None:
    desk.answer(*OLD)
    desk.sweep()
    desk.answer(OLD[1])
    desk.sweep()
    assert set(desk.episodes) == {"First", "Second"}
    assert _missing(desk) == 1
    desk.answer(*OLD)
    desk.sweep()
    assert _missing(desk) == 0


def _missing(desk: Desk) -> int:
    with desk.world.make_session() as session:
        rows = session.scalars(
            select(FeedItem).where(FeedItem.missing_since.is_not(None))
        )
        return len(rows.all())


def test_a_broken_feed_says_why_waits_longer_and_keeps_what_was_good(
    desk: Desk,
) -> None:
    desk.answer(*OLD)
    desk.sweep()
    desk.sink.answer("/feed", Reply(body=b"<rss><channel>"))
    waits = []
    for _ in range(3):
        desk.now = desk.feed.due_at
        asked_at = desk.now
        assert desk.sweep().failed
        waits.append(desk.feed.due_at - asked_at)
    assert waits == [EVERY, EVERY * 2, EVERY * 4]
    assert "not well-formed XML" in (desk.feed.error or "")
    assert (len(desk.episodes), desk.feed.n_items) == (2, 2)
    desk.answer(FRESH, *OLD)
    desk.now = desk.feed.due_at
    desk.sweep()
    assert (desk.feed.error, desk.feed.failures) == (None, 0)
    assert desk.events == ["episode.published"]


def test_a_feed_of_20_mb_is_refused(desk: Desk) -> None:
    desk.sink.answer("/feed", Reply(body=b" " * 20_000_000))
    assert desk.sweep().failed
    assert "20 MB or more" in (desk.feed.error or "")


def test_a_feed_that_does_not_end_is_cut_off(desk: Desk) -> None:
    desk.sink.answer("/feed", Reply(kind="huge"))
    assert desk.sweep(size_max=200_000).failed


def test_not_modified_costs_no_reading(desk: Desk) -> None:
    stamp = "Tue, 10 Mar 2026 11:00:00 GMT"
    desk.answer(*OLD, headers={"ETag": '"v1"', "Last-Modified": stamp})
    desk.sweep()
    desk.sink.answer("/feed", Reply(304))
    assert desk.sweep().unchanged
    asked = desk.sink.requests[-1].headers
    assert asked["if-none-match"] == '"v1"'
    assert asked["if-modified-since"] == stamp
    assert desk.feed.error is None
    assert desk.feed.due_at == desk.now


def test_the_same_answer_again_changes_nothing(desk: Desk) -> None:
    desk.answer(*OLD)
    desk.sweep()
    assert desk.sweep().unchanged


def test_an_item_of_the_future_waits_for_its_time(desk: Desk) -> None:
    coming = replace(FRESH, at=NOW + timedelta(minutes=40))
    desk.answer(*OLD, coming, headers={"ETag": '"v1"'})
    desk.sweep()
    assert "Third" not in desk.episodes
    assert desk.feed.etag is None
    desk.now = NOW + timedelta(hours=1)
    desk.sweep()
    assert desk.events == ["episode.published"]


def test_a_move_to_another_host_announces_nothing_again(desk: Desk) -> None:
    desk.answer(*OLD)
    desk.sweep()
    desk.answer(FRESH, *OLD)
    desk.sweep()
    desk.answer(*(replace(e, guid=f"new-{e.guid}") for e in (FRESH, *OLD)))
    desk.sweep()
    assert len(desk.episodes) == 3
    assert desk.events == ["episode.published"]


def test_an_episode_of_an_application_is_found_by_its_guid(desk: Desk) -> None:
    desk.answer(*OLD)
    desk.sweep()
    desk.world.episode("g-3", title="Draft of the third")
    desk.answer(FRESH, *OLD)
    desk.sweep()
    row = desk.episodes["Draft of the third"]
    assert (row.id, row.status) == ("g-3", "published")
    assert len(desk.episodes) == 3


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(404), "answered 404"),
        (Reply(500), "answered 500"),
        (Reply(302, headers={"Location": "/feed"}), "led on more than 5 times"),
        (Reply(302, headers={"Location": "http://10.0.0.1/x"}), "private"),
        (Reply(301, headers={"Location": "file:///etc/passwd"}), "https://"),
        (Reply(kind="drop"), "cut the answer off"),
        (Reply(body=b"x", headers={"Content-Encoding": "gzip"}), "packed"),
    ],
)
def test_a_bad_answer_is_a_sentence(desk: Desk, reply: Reply, words: str) -> None:
    desk.sink.answer("/feed", reply)
    assert desk.sweep().failed
    assert words in (desk.feed.error or "")


def test_a_redirect_is_followed(desk: Desk) -> None:
    desk.sink.answer("/feed", Reply(301, headers={"Location": "/moved"}))
    desk.sink.answer("/moved", Reply(body=rss(OLD)))
    assert desk.sweep().changed


def test_a_busy_server_is_left_alone_as_long_as_it_asks(desk: Desk) -> None:
    desk.sink.answer("/feed", Reply(503, headers={"Retry-After": "7200"}))
    desk.sweep()
    assert desk.feed.due_at == NOW + timedelta(hours=2)


def test_a_feed_of_thousands_is_taken_in_one_go(desk: Desk) -> None:
    start = NOW - timedelta(days=900)
    desk.answer(
        *(Entry(f"g{n}", f"No. {n}", start + timedelta(hours=n)) for n in range(1200))
    )
    desk.sweep()
    assert len(desk.episodes) == 1200
    with desk.world.make_session.begin() as session:
        session.execute(update(Feed).values(digest=None))
    desk.sweep()
    assert len(desk.episodes) == 1200


def test_a_feed_that_changes_all_it_says_costs_few_statements(
    desk: Desk,
) -> None:
    entries = [Entry(f"g-{n}", f"No {n}") for n in range(600)]
    desk.answer(*entries)
    desk.sweep()
    desk.answer(*(replace(each, description="Bells.") for each in entries))
    with statements() as asked:
        assert len(desk.sweep().changed) == 1
    assert {row.description for row in desk.episodes.values()} == {"Bells."}
    assert len(asked) < 40
