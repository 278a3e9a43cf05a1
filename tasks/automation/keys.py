"""Idempotency keys: what makes two executions or two scheduled jobs the same.

``{rule}:{trigger}:{podcast}:{episode}:{booking}:{guest}:{date}`` for events: the same
event fires a rule once a day.  An event that carries its own id gets it appended, so
a booking that moves twice in one day is reported twice; a repeated report is not.

``time_trigger:{rule}:{trigger}:{entity}:{reference}:{offset}`` for dates.  The offset
is ours: a rule that changes from 24 to 48 hours plans anew.  These keys are unique
among *pending* jobs only, so that 14:00 -> 15:45 -> 14:00 works.  The entity is the
booking, else the episode, else the podcast; for publication dates the episode comes
first, since a call that also names a booking means the same publication.  A second
or third choice is marked (``episode/7``), since a booking and an episode may have
the same id.

``{key}:step{number}`` for what a rule does later, of either kind.  ``{key}:replay``
for a second chance of what was not sent, ``{key}:again:{operation}`` for a second
sending that an operator asked for.

Colons within ids are written ``%3A``, and what is too long ends in its digest.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, Literal
from uuid import UUID

from tasks.automation.triggers import TRIGGERS
from tasks.models.rule import Rule

KEY_MAX: Final = 512
_DIGEST_LENGTH: Final = 64

EntityKind = Literal["booking", "episode", "podcast"]


@dataclass(frozen=True, slots=True)
class Ids:
    """Which records something is about; ``None``: there is none."""

    podcast_id: str | None
    episode_id: str | None = None
    booking_id: str | None = None
    guest_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """What a time rule is planned for."""

    kind: EntityKind
    id: str


def entity_of(trigger_type: str, ids: Ids) -> Entity:
    """Return what a time trigger is about: the same whoever asks for it."""
    booking = Entity("booking", ids.booking_id) if ids.booking_id else None
    episode = Entity("episode", ids.episode_id) if ids.episode_id else None
    is_publish = TRIGGERS[trigger_type].reference == "publish"
    chosen = (episode or booking) if is_publish else (booking or episode)
    return chosen or Entity("podcast", ids.podcast_id or "")


def event_key(
    rule_id: UUID, trigger_type: str, ids: Ids, on: date, event_id: str | None
) -> str:
    """Return the key of one rule's execution for one event."""
    parts = [ids.podcast_id, ids.episode_id, ids.booking_id, ids.guest_id]
    key = ":".join([str(rule_id), trigger_type, *map(_escaped, parts), on.isoformat()])
    return _fitting(f"{key}:{event_id}" if event_id else key)


def step_key(key: str, step: int) -> str:
    """Return the key of a rule's later step, made of that of its own action."""
    return _fitting(f"{key}:step{step}")


def replay_key(key: str, again: UUID | None = None) -> str:
    """Return the key of an execution that repeats the one with ``key``.

    Args:
        again: the operation that repeats what was sent; ``None``: it was not sent, so
            one repetition is all there can be.
    """
    return _fitting(f"{key}:again:{again}" if again else f"{key}:replay")


def time_key(rule: Rule, entity: Entity, reference_at: datetime) -> str:
    """Return the key of one time rule's job for one entity and date."""
    is_publish = TRIGGERS[rule.trigger_type].reference == "publish"
    first = "episode" if is_publish else "booking"
    name = _escaped(entity.id)
    marked = name if entity.kind == first else f"{entity.kind}/{name}"
    reference = reference_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    offset = f"{rule.offset_value}{rule.offset_unit}"
    if rule.offset_at:
        offset += f"@{rule.offset_at}"
    return _fitting(
        f"time_trigger:{rule.id}:{rule.trigger_type}:{marked}:{reference}:{offset}"
    )


def _escaped(part: str | None) -> str:
    return (part or "").replace(":", "%3A")


def _fitting(key: str) -> str:
    if len(key) <= KEY_MAX:
        return key
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f"{key[: KEY_MAX - _DIGEST_LENGTH - 1]}:{digest}"
