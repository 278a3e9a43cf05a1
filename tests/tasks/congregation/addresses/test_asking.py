"""Asking for syncs: one at a time; of perimeters; from addresses of the web."""

from __future__ import annotations

import io
import ipaddress
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from tasks import long_jobs
from tasks.congregation.addresses.areas import save_perimeter
from tasks.congregation.addresses.reading import Lines
from tasks.congregation.addresses.starting import cancel_sync, url_source
from tasks.congregation.addresses.uploads import keep_upload
from tasks.congregation.loose_files import remove_loose
from tasks.errors import Conflict
from tasks.long_jobs import CannotDo
from tasks.models import Account, Notification, Sync
from tasks.models.long_job import LongJobState
from tasks.outbound.download import WebDownloader
from tasks.outbound.guard import UrlRules
from tests.support.address_rows import Door, ban, street
from tests.support.hook_sink import HookSink, Reply
from tests.tasks.congregation.addresses.conftest import ACTOR, Desk

RULES = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)
HOME = frozenset({"127.0.0.1"})
SQUARE = (
    '{"type": "Polygon", "coordinates": '
    "[[[5, 48], [7, 48], [7, 49.00035], [5, 49.00035], [5, 48]]]}"
)


@pytest.fixture
def online(sqlite_desk: Desk, hook_sink: HookSink) -> Iterator[Desk]:
    """Return a desk whose worker may fetch from a server on this machine."""
    downloader = WebDownloader(RULES, HOME, size_max=100_000, idle_seconds=0.5)
    bench = sqlite_desk.bench
    effects = replace(bench.effects, downloader=downloader)
    sqlite_desk.bench = replace(bench, effects=effects)
    return sqlite_desk  # type: ignore[return-value]


def test_two_requests_at_once_make_one_sync(desk: Desk) -> None:
    ready = threading.Barrier(3)

    def ask(_: int) -> Sync:
        ready.wait(10)
        return desk.ask_for([url_source("https://data.gouv.fr/a.csv")])

    with ThreadPoolExecutor(3) as pool:
        asked = {sync.id for sync in pool.map(ask, range(3))}
    assert len(asked) == 1


def test_a_perimeter_moves_addresses_in_and_out(desk: Desk) -> None:
    desk.sync(ban(street(5)))
    with desk.make_session.begin() as session:
        save_perimeter(session, desk.of, SQUARE, 1, ACTOR, now=desk.now)
    desk.sweep()
    assert [row.in_territory for row in desk.addresses] == [True] * 3 + [False] * 2
    more = desk.sync(ban([*street(5), Door("9", lat="48.5"), Door("10", lat="52")]))
    assert more.report["updated"] == 0
    assert sum(row.in_territory for row in desk.addresses) == 4
    with desk.make_session.begin() as session:
        save_perimeter(session, desk.of, "", 2, ACTOR, now=desk.now)
        waiting = save_perimeter(session, desk.of, "", 3, ACTOR, now=desk.now)
    desk.sweep()
    assert all(row.in_territory for row in desk.addresses)
    assert desk.seen(waiting).report == {"read": 7, "now_inside": 3, "now_outside": 0}
    assert desk.sweep().done == ()  # the one that waited served both
    assert desk.events == ["sync.completed"] * 2


def test_an_upload_whose_process_died_is_removed_after_a_day(desk: Desk) -> None:
    upload = ("file.csv", io.BytesIO(ban(street(5))))
    source = keep_upload(
        desk.make_session.begin, desk.storage, desk.of, upload, desk.now, limit=10_000
    )
    assert remove_loose(desk.bench, 10) == ()
    desk.now += timedelta(days=1, seconds=1)
    with pytest.raises(Conflict, match="took too long"):
        desk.ask_for([source])
    assert remove_loose(desk.bench, 10) == (source["key"],)
    assert desk.storage.keys("") == []


def test_a_cancelled_sync_changes_nothing(desk: Desk) -> None:
    asked = desk.ask(ban(street(5)))
    with desk.make_session.begin() as session:
        cancel_sync(session, asked.id, ACTOR, desk.now)
    assert desk.sweep().done == ()
    assert (desk.seen(asked).state, desk.addresses) == (LongJobState.CANCELLED, [])
    assert desk.storage.keys("") == []
    assert desk.events == []
    with desk.make_session.begin() as session, pytest.raises(Conflict):
        cancel_sync(session, asked.id, ACTOR, desk.now)


def test_it_is_too_late_to_cancel_what_is_being_written(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = desk.ask(ban(street(5)))
    with desk.make_session.begin() as writer:
        held = writer.get_one(Sync, asked.id, with_for_update=True)
        if writer.get_bind().dialect.name == "sqlite":
            return  # it has one writer at a time: who cancels waits for its end
        monkeypatch.setattr(long_jobs, "CANCEL_WAIT_MS", 50)
        with (
            pytest.raises(Conflict, match="done in a moment"),
            desk.make_session.begin() as session,
        ):
            cancel_sync(session, asked.id, ACTOR, desk.now)
        assert held.cancel_asked_at is None


def test_who_asked_hears_of_it_if_they_have_an_account(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.sync(ban(street(5)))
    with desk.make_session.begin() as session:
        account = Account(congregation_id=desk.of, email=ACTOR.name, name="Ada")
        session.add(account)
    desk.sync(ban([]))
    with desk.make_session() as session:
        told = session.scalars(select(Notification).order_by(Notification.id)).all()
    assert [(row.type, row.account_id) for row in told] == [
        ("sync.completed", None),
        ("sync.failed", account.id),
    ]


def test_a_file_is_fetched_from_where_it_is_published(
    online: Desk, hook_sink: HookSink
) -> None:
    changed = {"Last-Modified": "Sun, 01 Mar 2026 04:00:00 GMT"}
    hook_sink.answer("/a.csv", Reply(body=ban(street(5)), headers=changed))
    hook_sink.answer("/b.csv", Reply(302, headers={"Location": "/a.csv"}))
    asked = online.ask_for([url_source(hook_sink.url("/b.csv"))])
    online.sweep()
    done = online.seen(asked)
    assert done.state is LongJobState.DONE, done.error
    assert (done.report["created"], done.data_from) == (5, date(2026, 3, 1))
    assert done.progress_done == done.progress_total


@pytest.mark.parametrize(
    ("reply", "said", "is_tried_again"),
    [
        (Reply(404), "answered 404", False),
        (Reply(503), "answered 503", True),
        (Reply(302, headers={"Location": "http://10.0.0.1/x"}), "private", False),
        (Reply(302, headers={"Location": "/"}), "more than 5 times", False),
        (Reply(302, headers={"Location": "http://[::1"}), "not a web address", False),
        (Reply(body=b"x" * 200_000), "has more than", False),
        (Reply(kind="drop"), "cut the file off", True),
        (Reply(kind="hang"), "fell silent", True),
    ],
)
def test_what_cannot_be_fetched_changes_nothing_and_says_why(
    online: Desk, hook_sink: HookSink, reply: Reply, said: str, is_tried_again: bool
) -> None:
    hook_sink.answer("/", reply)
    asked = online.ask_for([url_source(hook_sink.url("/"))])
    online.sweep()
    state = LongJobState.QUEUED if is_tried_again else LongJobState.FAILED
    row = online.seen(asked)
    assert row.state is state, row.error
    assert said in (row.error or "")
    for _ in range(2):
        online.now += timedelta(hours=1)
        if is_tried_again and reply.kind != "hang":
            online.sweep()
            row = online.seen(asked)
    if is_tried_again and reply.kind != "hang":
        assert (row.state, row.failures) == (LongJobState.FAILED, 3)


def test_no_more_is_unpacked_than_a_department_can_have() -> None:
    import gzip
    import io

    bomb: Any = io.BytesIO(gzip.compress(b"1;2\n" * 1_000_000))
    lines = Lines(bomb, lambda _: None, unpacked_max=1_000_000)
    with pytest.raises(CannotDo, match="once unpacked"):
        list(lines)
