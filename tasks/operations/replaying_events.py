"""Replaying events: the rules as they are now look at them once more.

An execution has the key that it always had, so a rule that acted on an event does not
act on it again; its decision then says "duplicate".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.evaluating import Evaluated, evaluate
from tasks.automation.payloads import Report
from tasks.automation.records import Records, load_records
from tasks.automation.triggers import TRIGGERS
from tasks.models import Event, EventData, Operation
from tasks.operations.acted import Acted
from tasks.saying import mark

NO_TRIGGER: Final = mark("No rule can wait for such an event any more.")
NO_PODCAST: Final = mark("Its podcast is not known any more.")
ACTED: Final = mark("Every rule that fires for it has acted on it already.")
NO_RULE: Final = mark("No rule fires for it as the rules are now.")


def replay_events(
    session: Session, operation: Operation, ids: Sequence[UUID], now: datetime
) -> Acted:
    """Evaluate events again; each leaves its decisions.  The caller commits."""
    del operation
    acted = Acted()
    reports = _reports(session, ids)
    records = load_records(session, reports)
    sound = [each for each in reports if _is_sound(each, records, acted)]
    evaluated = evaluate(session, sound, records, now)
    for report in sound:
        _count(acted, report, evaluated[report.id])
    if acted.n_made:
        doorbell.ask(session, "executions")
    return acted


def _reports(session: Session, ids: Sequence[UUID]) -> list[Report]:
    rows = session.execute(
        select(Event, EventData.data)
        .outerjoin(EventData, EventData.event_id == Event.id)
        .where(Event.id.in_(ids))
        .order_by(Event.id)
    )
    return [
        Report(
            id=event.id,
            congregation_id=event.congregation_id,
            trigger_type=event.type,
            podcast_id=event.podcast_id,
            episode_id=event.episode_id,
            booking_id=event.booking_id,
            guest_id=event.guest_id,
            extra=data or {},
            external_id=event.external_id,
            occurred_at=event.occurred_at,
            source=event.source,
            depth=event.depth,
        )
        for event, data in rows
    ]


def _is_sound(report: Report, records: Records, acted: Acted) -> bool:
    """Return whether rules can look at it; what else is gone, they find themselves."""
    trigger = TRIGGERS.get(report.trigger_type)
    if trigger is None or trigger.is_time:
        acted.skip([report.id], NO_TRIGGER)
        return False
    podcast = (report.congregation_id, report.podcast_id or "")
    if report.podcast_id and podcast not in records.podcasts:
        acted.skip([report.id], NO_PODCAST)
        return False
    return True


def _count(acted: Acted, report: Report, evaluated: Evaluated) -> None:
    if evaluated.fired:
        acted.changed.append((report.congregation_id, report.id))
        acted.n_made += len(evaluated.fired)
    else:
        acted.skip([report.id], ACTED if evaluated.n_duplicates else NO_RULE)
