"""How an episode's dates move; ``episodes`` has the verbs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy.orm import Session

from tasks.automation import fields, rows
from tasks.automation.bookkeeping import plan_episode, report
from tasks.automation.checks import checked_id
from tasks.automation.results import Changed
from tasks.errors import InvalidInput
from tasks.models.episode import Episode, EpisodeStatus

CHECKS: Final[Mapping[str, fields.Check]] = {
    "podcast_id": fields.required(checked_id),
    "title": fields.text(200, required=True),
    "episode_number": fields.optional(fields.number),
    "description": fields.text(20_000, lines=True),
    "recording_at": fields.optional(fields.instant),
    "scheduled_for": fields.optional(fields.instant),
    "timezone": fields.timezone,
}
GUEST_CHECKS: Final[Mapping[str, fields.Check]] = {
    "podcast_id": fields.required(checked_id),
    "episode_id": fields.reference,
    "name": fields.text(120, required=True),
    "email": fields.optional(fields.email),
    "access_token": fields.optional(fields.text(255)),
}
#: Fields on which planned jobs depend.
_PLANNED_BY: Final = frozenset({"recording_at", "scheduled_for", "timezone"})
#: How far a producer's clock may run ahead of ours.
_CLOCK_SKEW: Final = timedelta(minutes=5)


def change(
    session: Session, row: Episode, values: dict[str, Any], now: datetime
) -> Changed[Episode]:
    """Set checked values; a scheduled episode with another date is scheduled anew.

    One whose date is taken away is a draft again.

    Raises:
        Conflict: it belongs to another podcast.
    """
    before = rows.apply(row, values)
    if not before:
        return Changed(row, changed=False)
    row.updated_at = now
    is_moved = row.status is EpisodeStatus.SCHEDULED and "scheduled_for" in before
    if is_moved and row.scheduled_for is None:
        row.status = EpisodeStatus.DRAFT
    row.revision += bool(_PLANNED_BY & before.keys())
    session.flush()
    event = None
    if is_moved and row.scheduled_for is not None:
        event = report(session, row, "episode.scheduled", now)
    schedule = None
    if _PLANNED_BY & before.keys():
        schedule = plan_episode(session, row, now)
    return Changed(row, changed=True, event=event, schedule=schedule)


def reported(
    session: Session, row: Episode, trigger_type: str, now: datetime
) -> Changed[Episode]:
    """Report and plan an episode that has just got another status."""
    row.revision += 1
    row.updated_at = now
    session.flush()
    event = report(session, row, trigger_type, now)
    return Changed(
        row, changed=True, event=event, schedule=plan_episode(session, row, now)
    )


def refuse_future(published_at: datetime, now: datetime) -> None:
    """Raise ``InvalidInput`` for a publication that is still to come."""
    if published_at > now + _CLOCK_SKEW:
        raise InvalidInput(
            "published_in_future",
            "published_at lies in the future; schedule the episode instead.",
            field="published_at",
        )
