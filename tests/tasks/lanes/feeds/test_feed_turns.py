"""The lane ``feeds``: which feeds are taken when, and that one holds up no other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import sessions
from tasks.errors import Conflict
from tasks.lanes import feeds
from tasks.lanes.feeds import LEASE, FeedSweep, claim, due_ids, settle, sweep
from tasks.models import Feed
from tasks.operations.audit import SYSTEM
from tasks.operations.feeds import add_feed, change_feed
from tasks.sources.fetching import NotModified
from tests.support import factories
from tests.support.feeds import Entry, rss
from tests.support.hook_sink import HookSink, Reply
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until
from tests.tasks.automation.conftest import NOW, make_world
from tests.tasks.lanes.feeds.conftest import OLD, RULES, Desk


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
