"""A podcast with a feed, and a real server that answers for it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lane import Bench
from tasks.lanes.feeds import EVERY, FeedSweep, sweep
from tasks.models import Episode, Event, Feed
from tasks.operations.audit import SYSTEM
from tasks.operations.feeds import add_feed
from tasks.outbound.fetch import WebFetcher
from tasks.outbound.guard import UrlRules
from tests.support.fakes import FakePost, bench
from tests.support.feeds import Entry, rss
from tests.support.hook_sink import HookSink, Reply
from tests.tasks.automation.conftest import NOW, World, make_world

RULES = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)
OLD = [Entry("g-1", "First"), Entry("g-2", "Second", NOW - timedelta(days=30))]


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
