"""The lane ``feeds``: a real server, real answers, and what becomes of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import sessions
from tasks.errors import Conflict
from tasks.lane import Bench
from tasks.lanes import feeds
from tasks.lanes.feeds import EVERY, LEASE, FeedSweep, claim, due_ids, settle, sweep
from tasks.models import Episode, Event, Feed, FeedItem
from tasks.operations.audit import SYSTEM
from tasks.operations.feeds import add_feed, change_feed
from tasks.outbound.fetch import WebFetcher
from tasks.outbound.guard import UrlRules
from tasks.sources.fetching import NotModified
from tests.support import factories
from tests.support.fakes import FakePost, bench
from tests.support.feeds import Entry, rss
from tests.support.hook_sink import HookSink, Reply
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until
from tests.support.statements import statements
from tests.tasks.automation.conftest import NOW, World, make_world

RULES = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)
OLD = [Entry("g-1", "First"), Entry("g-2", "Second", NOW - timedelta(days=30))]
FRESH = Entry("g-3", "Third", NOW + timedelta(minutes=10))


@dataclass
class Desk:
    """A podcast with a feed, a server, and a lane that can be moved through time."""

    world: World
    sink: HookSink
    now: datetime = NOW

    def answer(self, *entries: Entry, **values: Any) -> None:
        headers = values.pop("headers", {})
        body = rss(entries)
        self.sink.answer("/feed", Reply(body=body, headers=headers, **values))

    def sweep(self, **changes: Any) -> FeedSweep:
        swept = sweep(self.bench(**changes), 10)
        self.now += EVERY
        return swept

    def bench(self, **changes: Any) -> Bench:
        made = bench(self.world.make_session, lambda: self.now, FakePost())
        fetcher = WebFetcher(RULES, total_seconds=5.0, **changes)
        return replace(made, effects=replace(made.effects, fetcher=fetcher))

    @property
    def feed(self) -> Feed:
        with self.world.make_session() as session:
            return session.scalars(select(Feed)).one()

    @property
    def episodes(self) -> dict[str, Episode]:
        return {row.title: row for row in self.world.all(Episode)}

    @property
    def events(self) -> list[str]:
        return [event.type for event in self.world.all(Event)]


@pytest.fixture
def desk(make_session: sessionmaker[Session], hook_sink: HookSink) -> Desk:
    world = make_world(make_session, "bonifatius")
    with make_session.begin() as session:
        add_feed(
            session,
            world.id,
            "show",
            hook_sink.url("/feed"),
            SYSTEM,
            rules=RULES,
            now=NOW,
        )
    return Desk(world, hook_sink)


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


def test_a_feed_is_looked_at_when_it_is_due_and_not_before(desk: Desk) -> None:
    desk.answer(*OLD)
    desk.sweep()
    desk.now -= timedelta(seconds=1)
    assert sweep(desk.bench(), 10) == FeedSweep()


def test_a_feed_of_a_dead_worker_is_taken_again_after_its_lease(desk: Desk) -> None:
    desk.answer(*OLD)
    id_ = desk.feed.id
    with desk.world.make_session.begin() as session:
        dead = claim(session, id_, now=NOW)
        assert claim(session, id_, now=NOW) is None
    assert dead is not None
    assert sweep(desk.bench(), 10) == FeedSweep()
    desk.now = NOW + LEASE + timedelta(seconds=1)
    assert desk.sweep().changed
    with desk.world.make_session.begin() as session:
        assert settle(session, dead, NotModified(), now=desk.now) == "lost"


def test_another_address_shuts_out_the_answer_of_the_former_one(desk: Desk) -> None:
    id_ = desk.feed.id
    with desk.world.make_session.begin() as session:
        held = claim(session, id_, now=NOW)
        change_feed(
            session,
            id_,
            desk.sink.url("/other"),
            SYSTEM,
            rules=RULES,
            now=NOW,
        )
    assert held is not None
    with desk.world.make_session.begin() as session:
        assert settle(session, held, NotModified(), now=NOW) == "lost"
    assert desk.feed.due_at == NOW


def test_congregations_take_turns(
    make_session: sessionmaker[Session], add_due_feeds: Callable[[str, int], None]
) -> None:
    add_due_feeds("many", 5)
    add_due_feeds("few", 1)
    with make_session() as session:
        first = due_ids(session, now=NOW, limit=2)
        urls = session.scalars(select(Feed.url).where(Feed.id.in_(first)))
        assert sorted(url.split("/")[2] for url in urls) == ["few", "many"]


@pytest.fixture
def add_due_feeds(make_session: sessionmaker[Session]) -> Callable[[str, int], None]:
    def add(slug: str, n: int) -> None:
        with make_session.begin() as session:
            tenant = factories.congregation(session, slug)
            for each in range(n):
                podcast = factories.Podcast(
                    congregation_id=tenant, id=f"p{each}", title="P"
                )
                session.add(podcast)
                session.flush()
                feed = Feed(
                    congregation_id=tenant,
                    podcast_id=podcast.id,
                    url=f"https://{slug}/{each}",
                    due_at=NOW - timedelta(hours=1 if slug == "many" else 0),
                )
                session.add(feed)

    return add


def test_a_full_batch_is_told(desk: Desk) -> None:
    desk.answer(*OLD)
    assert sweep(desk.bench(), 1).is_full


def test_a_worker_that_stops_takes_no_feed(desk: Desk) -> None:
    stopping = desk.bench()
    stopping.stopping.set()
    assert sweep(stopping, 10) == FeedSweep()


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


@pytest.mark.parametrize("where", ["read_feed", "absorb"])
def test_a_feed_that_makes_the_program_fail_does_so_alone_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    with desk.world.make_session.begin() as session:
        of = desk.world.id
        other = add_feed(
            session,
            of,
            "other",
            desk.sink.url("/other"),
            SYSTEM,
            rules=RULES,
            now=NOW,
        ).id
    desk.answer(*OLD)
    desk.sink.answer("/other", Reply(body=rss([Entry("g-9", "Ninth")])))
    usual = getattr(feeds, where)

    def breaks(*given: Any, **more: Any) -> Any:
        if b"First" in given[0] if where == "read_feed" else given[1].id != other:
            raise ZeroDivisionError
        return usual(*given, **more)

    with monkeypatch.context() as broken:
        broken.setattr(feeds, where, breaks)
        swept = desk.sweep()
    assert swept.changed == (other,)
    with desk.world.make_session() as session:
        (bad,) = session.scalars(select(Feed).where(Feed.id != other)).all()
    assert (bad.id,) == swept.failed
    assert (bad.failures, bad.lease_until) == (1, None)
    assert "see the worker's log" in (bad.error or "")
    assert bad.id in desk.sweep().changed


def test_two_who_name_a_podcasts_feed_at_once_are_told_of_it(
    postgres_engine: Engine, hook_sink: HookSink
) -> None:
    make = sessions(postgres_engine)
    of = make_world(make, "bonifatius").id
    named = partial(add_feed, rules=RULES, now=NOW)

    def second() -> None:
        with make.begin() as session:
            named(session, of, "show", hook_sink.url("/b"), SYSTEM)

    with ThreadPoolExecutor(1) as pool:
        with make.begin() as session:
            named(session, of, "show", hook_sink.url("/a"), SYSTEM)
            begun = pool.submit(second)
            until(lambda: waits_for_a_lock(postgres_engine))
        with pytest.raises(Conflict, match="has a feed already"):
            begun.result(30)


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
