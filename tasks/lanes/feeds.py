"""Feeds: fetch the podcasts' feeds that are due, and turn their items into episodes.

Fed by time, by operators who add a feed or ask to look now.  Shape: claim · act ·
settle, one feed at a time.  When the worker dies, the lease lapses and the feed is
fetched again by the next sweep; the attempt shuts out a late writer.
"""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from tasks.backlogs import waiting
from tasks.errors import InvalidInput
from tasks.executing.recording import AWAY
from tasks.lane import Backlog, Bench
from tasks.models.feed import Feed
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work
from tasks.saying import mark
from tasks.sources.feed import absorb
from tasks.sources.feed_items import FeedContent
from tasks.sources.feed_xml import NotAFeed, read_feed
from tasks.sources.fetching import Answer, Fetched, NotFetched, NotModified

logger = logging.getLogger(__name__)

NAME: Final = "feeds"
#: What operators read of a feed that makes the program fail.
BROKE: Final = mark("It ended with an error in the program, see the worker's log.")
#: Between two looks at a feed that answers well.
EVERY: Final = timedelta(minutes=15)
#: The longest wait after failures; each doubles the wait before.
LONGEST: Final = timedelta(hours=24)
#: Longer than the fetcher's own deadline and the reading of 20 MB.
LEASE: Final = timedelta(seconds=120)


@dataclass(frozen=True, slots=True)
class FeedSweep:
    """What one sweep did, as feed ids."""

    changed: tuple[UUID, ...] = ()  # read anew
    unchanged: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    lost: tuple[UUID, ...] = ()  # somebody else owns them now, or they were removed
    is_full: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """One look at one feed, and the attempt that fences it."""

    id: UUID
    attempt: int
    url: str
    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, slots=True)
class _Read:
    """A feed that was fetched and read; both happen outside of any transaction."""

    content: FeedContent
    page: Fetched
    digest: str  # SHA-256 of the body


_Got = _Read | NotModified | NotFetched


def sweep(bench: Bench, limit: int) -> FeedSweep:
    """Fetch up to ``limit`` due feeds, oldest first, fairly between congregations."""
    with bench.begin() as session:
        ids = due_ids(session, now=bench.clock(), limit=limit)
    ended: defaultdict[str, list[UUID]] = defaultdict(list)
    for id_ in ids:
        if bench.stopping.is_set():
            break
        with bench.begin() as session:
            held = claim(session, id_, now=bench.clock())
        if held is None:
            continue  # another worker was quicker
        got = _got(bench, held)
        now = bench.clock()
        with bench.begin() as session:
            ended[settle(session, held, got, now=now)].append(id_)
    return FeedSweep(
        **{word: tuple(each) for word, each in ended.items()},
        is_full=len(ids) == limit,
    )


def due_ids(session: Session, *, now: datetime, limit: int) -> Sequence[UUID]:
    """Return the feeds that are due; nobody's second one before everybody's first."""
    turn = func.row_number().over(
        partition_by=Feed.congregation_id, order_by=(Feed.due_at, Feed.id)
    )
    ranked = (
        select(Feed.id, Feed.due_at, turn.label("turn")).where(*_is_due(now)).subquery()
    )
    order = (ranked.c.turn, ranked.c.due_at, ranked.c.id)
    return session.scalars(select(ranked.c.id).order_by(*order).limit(limit)).all()


def claim(session: Session, feed_id: UUID, *, now: datetime) -> Claim | None:
    """Lease a feed for one look; ``None`` when somebody else has taken it."""
    feed = session.scalars(
        select(Feed)
        .where(Feed.id == feed_id, *_is_due(now))
        .with_for_update(skip_locked=True)
    ).first()
    if feed is None:
        return None
    feed.attempt += 1
    feed.lease_until = now + LEASE
    session.flush()
    return Claim(feed.id, feed.attempt, feed.url, feed.etag, feed.last_modified)


def settle(session: Session, held: Claim, got: _Got, *, now: datetime) -> str:
    """Write down what came of a look; returns the outcome's name.

    An item that cannot be kept fails its feed, and nothing of it is taken.
    """
    feed = session.scalars(
        select(Feed)
        .where(Feed.id == held.id, Feed.attempt == held.attempt)
        .with_for_update()
    ).first()
    if feed is None or feed.lease_until is None:
        return "lost"
    began, due_at = feed.lease_until - LEASE, feed.due_at
    word = _settle(session, feed, got, now)
    outcome = Measure.FAILED if word == "failed" else Measure.SUCCEEDED
    work = Work(feed.congregation_id, outcome, began - due_at, now - began)
    note_work(session, NAME, [work], now)
    return word


def _settle(session: Session, feed: Feed, got: _Got, now: datetime) -> str:
    feed.lease_until = None
    feed.checked_at = now
    if isinstance(got, NotFetched):
        return _fail(feed, got, now)
    if isinstance(got, NotModified) or got.digest == feed.digest:
        _succeed(feed, now)
        return "unchanged"
    try:
        with session.begin_nested():
            _keep(session, feed, got, now)
    except InvalidInput as error:
        return _fail(feed, NotFetched(error.message), now)
    except AWAY:
        raise
    except Exception:
        logger.exception("feed.settle_failed", extra={"id": str(feed.id)})
        return _fail(feed, NotFetched(BROKE), now)
    _succeed(feed, now)
    return "changed"


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many feeds are due."""
    return waiting(session, Feed.due_at, *_is_due(now))


def _is_due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    is_free = or_(Feed.lease_until.is_(None), Feed.lease_until < now)
    return (Feed.due_at <= now, is_free)


def _got(bench: Bench, held: Claim) -> _Got:
    try:
        return _act(bench, held)
    except Exception:
        # One feed's bug must not stop the others' work, nor be hidden.
        logger.exception("feed.act_failed", extra={"id": str(held.id)})
        return NotFetched(BROKE)


def _act(bench: Bench, held: Claim) -> _Got:
    answer: Answer = bench.effects.fetcher.fetch(
        held.url, etag=held.etag, last_modified=held.last_modified
    )
    if not isinstance(answer, Fetched):
        return answer
    try:
        content = read_feed(answer.body)
    except NotAFeed as error:
        return NotFetched(str(error))
    return _Read(content, answer, hashlib.sha256(answer.body).hexdigest())


def _keep(session: Session, feed: Feed, got: _Read, now: datetime) -> None:
    brought = absorb(session, feed, got.content, now=now)
    feed.title = got.content.title
    feed.n_items = len(got.content.items)
    feed.changed_at = now
    # An item whose date is to come needs another look, although nothing changes.
    is_whole = brought.n_waiting == 0
    feed.digest = got.digest if is_whole else None
    feed.etag = got.page.etag if is_whole else None
    feed.last_modified = got.page.last_modified if is_whole else None


def _succeed(feed: Feed, now: datetime) -> None:
    feed.good_at = now
    feed.failures = 0
    feed.error = None
    feed.due_at = now + EVERY


def _fail(feed: Feed, why: NotFetched, now: datetime) -> str:
    feed.failures += 1
    feed.error = why.sentence[:500]
    wait = min(EVERY * (1 << min(feed.failures - 1, 10)), LONGEST)
    feed.due_at = now + min(max(wait, why.after or wait), LONGEST)
    return "failed"
