"""A feed's items become episodes; new ones are announced, old ones come in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from tasks.automation import episodes
from tasks.automation.records import by_key, chunks
from tasks.models.episode import Episode, EpisodeStatus
from tasks.models.feed import Feed, FeedItem
from tasks.sources.feed_items import FeedContent, Item
from tasks.sources.feed_matching import match

#: A publication further ahead than this is still to come.
_AHEAD: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Absorbed:
    """What a feed brought, as episode ids."""

    imported: tuple[str, ...] = ()  # without an event
    published: tuple[str, ...] = ()  # with ``episode.published``
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # not in the feed any more; the episodes stay
    n_waiting: int = 0  # items whose date is still to come


def absorb(
    session: Session, feed: Feed, content: FeedContent, *, now: datetime
) -> Absorbed:
    """Bring the podcast's episodes to what its feed says; the caller commits.

    The first time everything is imported in silence; later, what went out before the
    subscription as well.

    Raises:
        InvalidInput: an item holds a value that cannot be kept.
    """
    items = {item.guid_digest: item for item in reversed(content.items)}
    known = {
        row.guid_digest: row
        for row in session.scalars(select(FeedItem).where(FeedItem.feed_id == feed.id))
    }
    due = {
        digest: item
        for digest, item in items.items()
        if item.published_at is None or item.published_at <= now + _AHEAD
    }
    new = [item for digest, item in due.items() if digest not in known]
    ids = match(session, feed, new)
    loud = [item for item in new if not _is_old(feed, item)]
    _add(session, feed, new, ids, now)
    return Absorbed(
        imported=tuple(ids[each.guid_digest] for each in new if _is_old(feed, each)),
        published=_announce(session, feed, loud, ids, now),
        changed=_follow(session, feed, due, known, now),
        missing=_mark_missing(session, known, items, now),
        n_waiting=len(items) - len(due),
    )


def _is_old(feed: Feed, item: Item) -> bool:
    if feed.good_at is None:
        return True
    return item.published_at is not None and item.published_at <= feed.subscribed_at


def _add(
    session: Session,
    feed: Feed,
    new: Sequence[Item],
    ids: Mapping[str, str],
    now: datetime,
) -> None:
    """Insert the episodes that are not there yet, and remember the items."""
    of = feed.congregation_id
    there = by_key(session, Episode, {(of, id_) for id_ in ids.values()})
    missing: dict[str, dict[str, Any]] = {}
    for item in new:
        id_ = ids[item.guid_digest]
        if (of, id_) not in there:
            missing.setdefault(id_, _episode(feed, id_, item, now))
    for some in chunks(list(missing.values())):
        session.execute(insert(Episode), list(some))
    rows = [
        {
            "congregation_id": of,
            "feed_id": feed.id,
            "guid_digest": item.guid_digest,
            "episode_id": ids[item.guid_digest],
            "digest": item.digest,
            "created_at": now,
        }
        for item in new
    ]
    for each in chunks(rows):
        session.execute(insert(FeedItem), list(each))


def _episode(feed: Feed, id_: str, item: Item, now: datetime) -> dict[str, Any]:
    is_old = _is_old(feed, item)
    return {
        "congregation_id": feed.congregation_id,
        "id": id_,
        "podcast_id": feed.podcast_id,
        "title": item.title,
        "description": item.description,
        "episode_number": item.number,
        "status": EpisodeStatus.PUBLISHED if is_old else EpisodeStatus.DRAFT,
        "published_at": item.published_at if is_old else None,
        "created_at": now,
        "updated_at": now,
    }


def _announce(
    session: Session,
    feed: Feed,
    loud: Sequence[Item],
    ids: Mapping[str, str],
    now: datetime,
) -> tuple[str, ...]:
    """Publish what is new, the oldest first, each with its event."""
    published = []
    for item in sorted(loud, key=lambda each: each.published_at or now):
        id_ = ids[item.guid_digest]
        at = min(item.published_at or now, now)
        told = episodes.publish(session, feed.congregation_id, id_, at, now=now)
        if told.changed:
            published.append(id_)
    return tuple(published)


def _follow(
    session: Session,
    feed: Feed,
    due: Mapping[str, Item],
    known: Mapping[str, FeedItem],
    now: datetime,
) -> tuple[str, ...]:
    """Change the episodes whose items have changed."""
    of = feed.congregation_id
    other = [
        (known[digest], item)
        for digest, item in due.items()
        if digest in known and known[digest].digest != item.digest
    ]
    described: dict[str, episodes.EpisodeTexts] = {}
    for row, item in other:
        row.digest = item.digest
        described[row.episode_id] = {
            "title": item.title,
            "description": item.description,
            "episode_number": item.number,
        }
    # What somebody removed is not brought back by the feed.
    changed = episodes.describe_episodes(session, of, described, now)
    return tuple(changed)


def _mark_missing(
    session: Session,
    known: Mapping[str, FeedItem],
    items: Mapping[str, Item],
    now: datetime,
) -> tuple[str, ...]:
    """Mark what left the feed, and take the mark from what came back."""
    gone = []
    for digest, row in known.items():
        if digest in items:
            row.missing_since = None
        elif row.missing_since is None:
            row.missing_since = now
            gone.append(row.episode_id)
    session.flush()
    return tuple(gone)
