"""Whom or what an event is about that has no row of its own beside its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.triggers import OWN_SUBJECTS, TRIGGERS
from tasks.models import Event, EventData
from tasks.models.base import Json

#: What names a thing, the best word first.
_NAMES: Final = ("display_name", "name", "title", "address", "source", "type", "id")
#: Sections of the values that every event has, and that name nothing it is about.
_COMMON: Final = frozenset({"congregation"})


@dataclass(frozen=True, slots=True)
class Named:
    """What an event is about, as its values say."""

    name: str
    note: str = ""  # an address below the name
    engagement_id: UUID | None = None  # of its page


def names_told(session: Session, events: Sequence[Event]) -> Mapping[UUID, Named]:
    """Return what our own events are about, by their ids; one query, or none."""
    ids = [event.id for event in events if _is_own(event)]
    if not ids:
        return {}
    rows = session.scalars(select(EventData).where(EventData.event_id.in_(ids)))
    found = {row.event_id: named_in(row.data) for row in rows}
    return {id_: named for id_, named in found.items() if named is not None}


def named(event: Event, data: Json) -> Named | None:
    """Return what one of our own events is about."""
    return named_in(data) if _is_own(event) else None


def named_in(data: Json) -> Named | None:
    """Return the first thing that the values name.

    >>> named_in({"campaign": {"id": "7", "name": "Advent"}}).name
    'Advent'
    """
    sections = [
        values
        for section, values in data.items()
        if isinstance(values, Mapping) and section not in _COMMON
    ]
    if not sections:
        return None
    words = [text for key in _NAMES if (text := str(sections[0].get(key) or ""))]
    if not words:
        return None
    address = str(sections[0].get("address") or "")
    note = address if address != words[0] else ""
    return Named(words[0], note, _engagement(data.get("engagement")))


def _is_own(event: Event) -> bool:
    trigger = TRIGGERS.get(event.type)
    return trigger is not None and trigger.subject in OWN_SUBJECTS


def _engagement(values: object) -> UUID | None:
    if not isinstance(values, Mapping):
        return None
    try:
        return UUID(str(values.get("id")))
    except ValueError:
        return None
