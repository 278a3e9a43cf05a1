"""What producers report, and what is made of it before it is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.checks import (
    NO_IDS,
    EventIds,
    checked_context,
    checked_event_id,
    checked_ids,
    checked_instant,
)
from tasks.automation.records import Records
from tasks.automation.references import refuse_unknown
from tasks.automation.results import EmitEventResult
from tasks.automation.scope import congregation_of
from tasks.automation.triggers import TRIGGERS, Trigger, reportable
from tasks.errors import InvalidInput
from tasks.models.base import Json, new_id

SOURCE_MAX: Final = 32
#: Where events of our own come from, by the subject of their trigger.
_ORIGINS: Final = {
    "contact": "engagements: set next_action_at of one",
    "work": "our own lanes",
}


@dataclass(frozen=True, slots=True)
class AutomationEvent:
    """Something that happened, as its producer tells it."""

    trigger_type: str
    podcast_id: str | None  # None: only events of our own that concern no podcast
    episode_id: str | None = None
    booking_id: str | None = None
    guest_id: str | None = None
    context: Json | None = None  # laid over what the records say
    event_id: str | None = None  # the producer's own id; None: once a day counts
    occurred_at: datetime | None = None  # None: now
    source: str = "python"
    depth: int = 0  # how many rules led to it
    congregation_id: UUID | None = None  # None: the only one of the session's scope


@dataclass(frozen=True, slots=True)
class Report:
    """A checked event under way: where it belongs, and the id it is stored under."""

    id: UUID
    congregation_id: UUID
    trigger_type: str
    podcast_id: str | None
    episode_id: str | None
    booking_id: str | None
    guest_id: str | None
    extra: Json
    external_id: str | None
    occurred_at: datetime
    source: str
    depth: int


def report_of(
    session: Session, payload: AutomationEvent, now: datetime, *, trusts: bool = False
) -> Report:
    """Check what can be checked without the records.

    Args:
        trusts: the event is our own, so its id may be one of ours.

    Raises:
        InvalidInput: something is wrong with it.
        NotFound: the congregation cannot be told.
    """
    trigger = _trigger_of(payload.trigger_type, trusts=trusts)
    is_own = trusts or payload.event_id is None
    ids = NO_IDS if trigger.is_own else _ids_of(payload)
    return Report(
        id=new_id(),
        congregation_id=congregation_of(session, payload.congregation_id),
        trigger_type=payload.trigger_type,
        **ids,
        extra=checked_context(payload.context) if payload.context else {},
        external_id=payload.event_id if is_own else checked_event_id(payload.event_id),
        occurred_at=checked_instant(payload.occurred_at or now, "occurred_at"),
        source=payload.source[:SOURCE_MAX],
        depth=payload.depth,
    )


def _ids_of(payload: AutomationEvent) -> EventIds:
    return checked_ids(
        podcast_id=payload.podcast_id,
        episode_id=payload.episode_id,
        booking_id=payload.booking_id,
        guest_id=payload.guest_id,
    )


def or_refusal(check: Callable[[], Report]) -> Report | EmitEventResult:
    """Return what ``check`` returns, or the answer to a producer whose event fails."""
    try:
        return check()
    except InvalidInput as error:
        return refused(error.code, error.message)


def known(report: Report, records: Records) -> Report:
    """Return the report, once the records that it names are known.

    Raises:
        NotFound: one does not exist in the congregation.
        InvalidInput: one belongs to another podcast.
    """
    refuse_unknown(report, records)
    return report


def refused(code: str, error: str) -> EmitEventResult:
    """Return the answer to a producer whose event is not taken."""
    return EmitEventResult(False, error=error, error_code=code)


def _trigger_of(name: object, *, trusts: bool) -> Trigger:
    trigger = TRIGGERS.get(name) if isinstance(name, str) else None
    if trigger is None:
        raise InvalidInput(
            "unknown_trigger",
            f"There is no trigger {str(name)[:64]!r}; the triggers are: {_known()}.",
            field="trigger_type",
        )
    if trigger.is_own and not trusts:
        raise InvalidInput(
            "own_trigger",
            f"{trigger.name} comes from {_ORIGINS[trigger.subject]}; "
            f"the triggers of events are: {_known()}.",
            field="trigger_type",
        )
    if trigger.is_time:
        raise InvalidInput(
            "time_trigger",
            f"{trigger.name} comes from dates, not from events; "
            f"the triggers of events are: {_known()}.",
            field="trigger_type",
        )
    return trigger


def _known() -> str:
    return ", ".join(reportable())
