"""Events of our own lanes: what a congregation's back office has done.

They feed rules and webhook endpoints as any event does, and carry facts: no names of
people, no texts that somebody wrote about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.checks import OWN_PREFIX
from tasks.automation.events import AutomationEvent, emit_own_all
from tasks.models.base import Json


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that one of our lanes did to one row."""

    trigger_type: str  # a trigger whose subject is "work"
    congregation_id: UUID
    row_id: UUID
    #: Section -> its values, as the trigger's variables name them.
    said: Json
    #: Tells occurrences of one type on one row apart; empty: it happens to it once.
    occurrence: str = ""


def report(session: Session, happenings: Sequence[Happening], now: datetime) -> None:
    """Store the events within the caller's transaction: all of them or none.

    The same happening told twice is one event.

    Raises:
        InvalidInput: a type is unknown, or what is said is too long to be kept.
    """
    if happenings:
        emit_own_all(session, [_event(each) for each in happenings], now)


def _event(happening: Happening) -> AutomationEvent:
    parts = (happening.trigger_type, str(happening.row_id), happening.occurrence)
    return AutomationEvent(
        happening.trigger_type,
        None,
        context=happening.said,
        event_id=OWN_PREFIX + ":".join(part for part in parts if part),
        source="lane",
        congregation_id=happening.congregation_id,
    )
