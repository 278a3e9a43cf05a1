"""Which episode an item of a feed is: one that is known, or a new one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.checks import checked_id
from tasks.automation.records import by_key, chunks
from tasks.errors import InvalidInput
from tasks.models.episode import Episode
from tasks.models.feed import Feed
from tasks.sources.feed_items import Item


def match(session: Session, feed: Feed, new: Sequence[Item]) -> dict[str, str]:
    """Return the episode of each item that is new in the feed, by guid's digest.

    An episode that an application made under the guid itself is meant; so is one with
    the same title and instant, since hosts give out new guids when a show moves.
    """
    of = feed.congregation_id
    plain = {item.guid: (of, item.guid) for item in new if _is_id(item.guid)}
    made = by_key(session, Episode, plain.values())
    same = _published_same(session, feed, new)
    found: dict[str, str] = {}
    for item in new:
        row = made.get(plain.get(item.guid, (of, "")))
        if row is not None and row.podcast_id == feed.podcast_id:
            found[item.guid_digest] = row.id
        else:
            twin = same.get((item.title, item.published_at))
            found[item.guid_digest] = twin or _own_id(feed, item)
    return found


def _published_same(
    session: Session, feed: Feed, new: Sequence[Item]
) -> dict[tuple[str, object], str]:
    if feed.good_at is None:
        return {}  # two items of the first answer are two episodes
    moments = sorted({item.published_at for item in new if item.published_at})
    found: dict[tuple[str, object], str] = {}
    for some in chunks(moments):
        rows = session.scalars(
            select(Episode).where(
                Episode.congregation_id == feed.congregation_id,
                Episode.podcast_id == feed.podcast_id,
                Episode.published_at.in_(some),
            )
        )
        found.update({(row.title, row.published_at): row.id for row in rows})
    return found


def _is_id(guid: str) -> bool:
    try:
        return bool(checked_id(guid, "guid"))
    except InvalidInput:
        return False


def _own_id(feed: Feed, item: Item) -> str:
    # With the podcast, since two shows may carry the same item.
    told = f"{feed.podcast_id}\n{item.guid}".encode()
    return f"feed:{hashlib.sha256(told).hexdigest()[:40]}"
