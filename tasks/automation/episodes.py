"""What happens to episodes and their guests: each verb is change, event and planning.

All of it belongs to the caller's transaction, and every verb may be called again.
``congregation_id`` may be ``None`` where the session's scope has only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypedDict, Unpack
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation import fields, rows
from tasks.automation.bookkeeping import plan_episode, report
from tasks.automation.checks import checked_id, checked_instant
from tasks.automation.episode_changes import (
    CHECKS,
    GUEST_CHECKS,
    change,
    refuse_future,
    reported,
)
from tasks.automation.results import UNSET, Changed, Unset
from tasks.automation.scope import known_congregation
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models.episode import Episode, EpisodeGuest, EpisodeStatus


class EpisodeValues(TypedDict, total=False):
    """Fields of an episode: absent means unchanged, ``None`` clears."""

    podcast_id: str  # cannot change later
    title: str
    episode_number: int | None
    description: str | None
    recording_at: datetime | None
    scheduled_for: datetime | None
    timezone: str | None


class EpisodeTexts(TypedDict):
    """What an episode says of itself: nothing that is planned depends on it."""

    title: str
    episode_number: int | None
    description: str | None


class GuestValues(TypedDict, total=False):
    """Fields of a guest: absent means unchanged, ``None`` clears."""

    podcast_id: str  # cannot change later
    episode_id: str | None
    name: str
    email: str | None
    access_token: str | None


def schedule(
    session: Session,
    congregation_id: UUID | None,
    episode_id: str,
    scheduled_for: datetime,
    *,
    now: datetime | None = None,
) -> Changed[Episode]:
    """Say when an episode goes out; another date moves its planned jobs.

    Raises:
        NotFound: there is no such episode.
        Conflict: it is published already.
        InvalidInput: the date is wrong.
    """
    date = checked_instant(scheduled_for, "scheduled_for")
    at = now or utcnow()
    row = _row(session, congregation_id, episode_id)
    _refuse_published(row)
    if row.status is EpisodeStatus.SCHEDULED:
        return change(session, row, {"scheduled_for": date}, at)
    row.status = EpisodeStatus.SCHEDULED
    row.scheduled_for = date
    return reported(session, row, "episode.scheduled", at)


def publish(
    session: Session,
    congregation_id: UUID | None,
    episode_id: str,
    published_at: datetime | None = None,
    *,
    now: datetime | None = None,
) -> Changed[Episode]:
    """Say that an episode is out, since now or since ``published_at``.

    Raises:
        NotFound: there is no such episode.
        InvalidInput: the date is wrong or lies in the future.
    """
    at = now or utcnow()
    since = checked_instant(published_at, "published_at") if published_at else at
    refuse_future(since, at)
    row = _row(session, congregation_id, episode_id)
    if row.status is EpisodeStatus.PUBLISHED:
        return Changed(row, changed=False)
    row.status = EpisodeStatus.PUBLISHED
    row.published_at = since
    return reported(session, row, "episode.published", at)


def reschedule(
    session: Session,
    congregation_id: UUID | None,
    episode_id: str,
    recording_at: datetime | Unset | None = UNSET,
    scheduled_for: datetime | Unset | None = UNSET,
    *,
    now: datetime | None = None,
) -> Changed[Episode]:
    """Change an episode's dates; a date left out stays, ``None`` takes it away.

    Raises:
        NotFound: there is no such episode.
        Conflict: it is published already.
        InvalidInput: a date is wrong.
    """
    values = {"recording_at": recording_at, "scheduled_for": scheduled_for}
    given = {name: value for name, value in values.items() if value is not UNSET}
    clean = fields.checked(given, CHECKS)
    row = _row(session, congregation_id, episode_id)
    _refuse_published(row)
    return change(session, row, clean, now or utcnow())


def save_episode(
    session: Session,
    congregation_id: UUID | None,
    episode_id: str,
    *,
    now: datetime | None = None,
    **values: Unpack[EpisodeValues],
) -> Changed[Episode]:
    """Create a draft, or change the fields that are given; dates move its jobs.

    Raises:
        InvalidInput: a value cannot be accepted, or a needed one is missing.
        NotFound: the podcast is not known.
        Conflict: it belongs to another podcast.
    """
    at = now or utcnow()
    clean = fields.checked(values, CHECKS)
    of = known_congregation(session, congregation_id)
    row = rows.locked(session, Episode, of, checked_id(episode_id, "id"))
    if row is None:
        rows.needed(clean, "podcast_id", "title")
        rows.refuse_unknown_podcast(session, of, clean["podcast_id"])
        row, created = rows.create(session, Episode, of, episode_id, clean)
        if created:
            event = report(session, row, "episode.draft_created", at)
            planned = plan_episode(session, row, at) if row.recording_at else None
            return Changed(
                row, changed=True, created=True, event=event, schedule=planned
            )
    return change(session, row, clean, at)


def describe_episodes(
    session: Session,
    congregation_id: UUID,
    described: Mapping[str, EpisodeTexts],
    now: datetime,
) -> list[str]:
    """Change what many episodes say of themselves; returns which were changed.

    A feed may change all of its items at once.  What is not there stays so.

    Raises:
        InvalidInput: a value cannot be accepted.
    """
    found = rows.locked_all(session, Episode, congregation_id, described)
    changed = []
    for id_, row in found.items():
        if rows.apply(row, fields.checked(described[id_], CHECKS)):
            row.updated_at = now
            changed.append(id_)
    session.flush()
    return changed


def save_guest(
    session: Session,
    congregation_id: UUID | None,
    guest_id: str,
    **values: Unpack[GuestValues],
) -> Changed[EpisodeGuest]:
    """Create a guest, or change the fields that are given.

    Raises:
        InvalidInput: a value cannot be accepted, or a needed one is missing.
        NotFound: the podcast is not known.
        Conflict: the guest belongs to another podcast.
    """
    clean = fields.checked(values, GUEST_CHECKS)
    of = known_congregation(session, congregation_id)
    row = rows.locked(session, EpisodeGuest, of, checked_id(guest_id, "id"))
    if row is None:
        rows.needed(clean, "podcast_id", "name")
        rows.refuse_unknown_podcast(session, of, clean["podcast_id"])
        row, created = rows.create(session, EpisodeGuest, of, guest_id, clean)
        if created:
            return Changed(row, changed=True, created=True)
    changed = bool(rows.apply(row, clean))
    session.flush()
    return Changed(row, changed=changed)


def _row(session: Session, congregation_id: UUID | None, episode_id: str) -> Episode:
    of = known_congregation(session, congregation_id)
    return rows.required_row(session, Episode, of, episode_id)


def _refuse_published(row: Episode) -> None:
    if row.status is EpisodeStatus.PUBLISHED:
        raise Conflict(
            "episode_published", "The episode is published; its dates are history."
        )
