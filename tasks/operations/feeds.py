"""Feeds: named for a podcast, looked at now, taken away."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.clock import utcnow
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Feed, Podcast, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.outbound.guard import UrlRules, check_form
from tasks.outbound.urls import read_url
from tasks.saying import say


def add_feed(
    session: Session,
    congregation_id: UUID,
    podcast_id: str,
    url: str,
    actor: Actor,
    *,
    rules: UrlRules,
    now: datetime | None = None,
) -> Feed:
    """Name a podcast's feed; what it holds already is imported without events.

    Raises:
        NotFound: the session sees no such podcast.
        Conflict: the podcast has a feed already.
        InvalidInput: the address is none that may be fetched.
    """
    at = now or utcnow()
    if session.get(Podcast, (congregation_id, podcast_id)) is None:
        raise NotFound(
            "unknown_podcast", say("There is no such podcast."), field="podcast_id"
        )
    address = _checked(url, rules)
    there = session.scalar(
        select(Feed.id).where(
            Feed.congregation_id == congregation_id, Feed.podcast_id == podcast_id
        )
    )
    if there is not None:
        raise _feed_exists()
    feed = Feed(
        id=new_id(),
        congregation_id=congregation_id,
        podcast_id=podcast_id,
        url=address,
        due_at=at,
        subscribed_at=at,
    )
    try:
        with session.begin_nested():
            session.add(feed)
    except IntegrityError:  # another request named one a moment ago
        raise _feed_exists() from None
    _audit(session, feed, actor, "feed.added", f"Added the feed {address}.")
    doorbell.ask(session, "feeds")
    return feed


def _feed_exists() -> Conflict:
    return Conflict(
        "feed_exists",
        say("The podcast has a feed already; change that one."),
        field="podcast_id",
    )


def change_feed(
    session: Session,
    feed_id: UUID,
    url: str,
    actor: Actor,
    *,
    rules: UrlRules,
    now: datetime | None = None,
) -> Feed:
    """Give a feed another address; what is older than this moment comes in silence.

    Raises:
        NotFound: the session sees no such feed.
        InvalidInput: the address is none that may be fetched.
    """
    at = now or utcnow()
    feed = get_feed(session, feed_id, locked=True)
    address = _checked(url, rules)
    if address == feed.url:
        return feed
    before: dict[str, object] = {"url": feed.url}
    feed.url = address
    feed.etag = feed.last_modified = feed.digest = feed.error = None
    feed.failures = 0
    feed.subscribed_at = at
    # Whoever is fetching the former address comes too late.
    feed.attempt += 1
    feed.lease_until = None
    feed.due_at = at
    session.flush()
    summary = f"Changed the feed to {address}."
    _audit(session, feed, actor, "feed.changed", summary, before=before)
    doorbell.ask(session, "feeds")
    return feed


def look_now(
    session: Session, feed_id: UUID, actor: Actor, *, now: datetime | None = None
) -> Feed:
    """Make a feed due at once, also one that waits after failures.

    Raises:
        NotFound: the session sees no such feed.
    """
    feed = get_feed(session, feed_id, locked=True)
    feed.due_at = now or utcnow()
    session.flush()
    _audit(session, feed, actor, "feed.asked", f"Asked to look at {feed.url} now.")
    doorbell.ask(session, "feeds")
    return feed


def remove_feed(session: Session, feed_id: UUID, actor: Actor) -> Feed:
    """Stop following a feed; its episodes stay.

    Raises:
        NotFound: the session sees no such feed.
    """
    feed = get_feed(session, feed_id, locked=True)
    before: dict[str, object] = {"url": feed.url}
    summary = f"Removed the feed {feed.url}."
    _audit(session, feed, actor, "feed.removed", summary, before=before)
    session.delete(feed)
    session.flush()
    return feed


def get_feed(session: Session, feed_id: UUID, *, locked: bool = False) -> Feed:
    """Return a feed.

    Raises:
        NotFound: the session sees none.
    """
    statement = select(Feed).where(Feed.id == feed_id)
    feed = session.scalar(statement.with_for_update() if locked else statement)
    if feed is None:
        raise NotFound("unknown_feed", say("There is no such feed."))
    return feed


def _checked(url: str, rules: UrlRules) -> str:
    if not url.strip():
        raise InvalidInput("required", say("Give the feed's address."), field="url")
    target = read_url(url.strip())
    check_form(target, rules)
    return target.url


def _audit(
    session: Session,
    feed: Feed,
    actor: Actor,
    action: str,
    summary: str,
    *,
    before: dict[str, object] | None = None,
) -> None:
    record(
        session,
        actor,
        action,
        Subject("feed", str(feed.id), feed.congregation_id),
        summary,
        before=before,
        after=None if action == "feed.removed" else {"url": feed.url},
    )
