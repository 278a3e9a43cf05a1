"""Events become executions: what producers call when something happened.

One event is stored once; every rule of its type is evaluated and leaves a decision.
All work in the caller's transaction, never raise into the caller, and answer instead.
The doorbell rings after the caller's commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.evaluating import Evaluated, evaluate
from tasks.automation.guarded import guarded
from tasks.automation.payloads import (
    AutomationEvent,
    Report,
    known,
    or_refusal,
    refused,
    report_of,
)
from tasks.automation.records import Records, load_records
from tasks.automation.references import refuse_unknown
from tasks.automation.results import EmitEventResult
from tasks.automation.storing import store
from tasks.clock import utcnow
from tasks.webhooks.outbox import hand_over

__all__ = [
    "AutomationEvent",
    "EmitEventResult",
    "emit_automation_event",
    "emit_booking_event",
    "emit_episode_event",
    "emit_events",
    "emit_guest_event",
    "emit_own",
    "emit_own_all",
]


def emit_automation_event(
    session: Session, payload: AutomationEvent, *, now: datetime | None = None
) -> EmitEventResult:
    """Store one event and make an execution for every rule that it fires."""
    return emit_events(session, [payload], now=now)[0]


def emit_events(
    session: Session,
    payloads: Sequence[AutomationEvent],
    *,
    now: datetime | None = None,
) -> list[EmitEventResult]:
    """Store a batch of events: one result each, in their order.

    A wrong event is refused alone.  One round trip per table for up to 500 events.
    """
    at = now or utcnow()
    results = guarded(
        session,
        lambda: _emit(session, payloads, at),
        lambda code, error: [refused(code, error) for _ in payloads],
        changes_objects=False,
    )
    _ask(session, results)  # outside of the savepoint, whose end is no commit
    return results


def emit_own(
    session: Session, payload: AutomationEvent, now: datetime
) -> EmitEventResult:
    """Store an event of our own, inside a change of ours that must not lose it.

    Raises:
        InvalidInput: it is refused.  Errors of the database are raised as they come.
    """
    return emit_own_all(session, [payload], now)[0]


def emit_own_all(
    session: Session, payloads: Sequence[AutomationEvent], now: datetime
) -> list[EmitEventResult]:
    """Store a batch of events of our own: all of them or none.

    Raises:
        InvalidInput: one is refused.  Errors of the database are raised as they come.
    """
    reports = [report_of(session, each, now, trusts=True) for each in payloads]
    records = load_records(session, reports)
    for report in reports:
        refuse_unknown(report, records, trusts=True)
    results = _results(session, reports, records, now)
    done = [results[report.id] for report in reports]
    _ask(session, done)
    return done


def emit_booking_event(
    session: Session,
    trigger_type: str,
    booking_id: str,
    podcast_id: str,
    episode_id: str | None = None,
    guest_id: str | None = None,
    *,
    congregation_id: UUID | None = None,
    now: datetime | None = None,
) -> EmitEventResult:
    """Report what happened to a booking."""
    payload = AutomationEvent(
        trigger_type,
        podcast_id,
        episode_id=episode_id,
        booking_id=booking_id,
        guest_id=guest_id,
        congregation_id=congregation_id,
    )
    return emit_automation_event(session, payload, now=now)


def emit_episode_event(
    session: Session,
    trigger_type: str,
    episode_id: str,
    podcast_id: str,
    *,
    congregation_id: UUID | None = None,
    now: datetime | None = None,
) -> EmitEventResult:
    """Report what happened to an episode."""
    payload = AutomationEvent(
        trigger_type,
        podcast_id,
        episode_id=episode_id,
        congregation_id=congregation_id,
    )
    return emit_automation_event(session, payload, now=now)


def emit_guest_event(
    session: Session,
    trigger_type: str,
    guest_id: str,
    episode_id: str | None,
    podcast_id: str,
    *,
    congregation_id: UUID | None = None,
    now: datetime | None = None,
) -> EmitEventResult:
    """Report what happened to a guest."""
    payload = AutomationEvent(
        trigger_type,
        podcast_id,
        episode_id=episode_id,
        guest_id=guest_id,
        congregation_id=congregation_id,
    )
    return emit_automation_event(session, payload, now=now)


def _ask(session: Session, results: Sequence[EmitEventResult]) -> None:
    if any(result.executions_created for result in results):
        doorbell.ask(session, "executions")


def _emit(
    session: Session, payloads: Sequence[AutomationEvent], now: datetime
) -> list[EmitEventResult]:
    checked = [
        or_refusal(partial(report_of, session, payload, now)) for payload in payloads
    ]
    named = [each for each in checked if isinstance(each, Report)]
    records = load_records(session, named)
    sound = [
        or_refusal(partial(known, each, records)) if isinstance(each, Report) else each
        for each in checked
    ]
    reports = [each for each in sound if isinstance(each, Report)]
    results = _results(session, reports, records, now)
    return [results[each.id] if isinstance(each, Report) else each for each in sound]


def _results(
    session: Session, reports: Sequence[Report], records: Records, now: datetime
) -> dict[UUID, EmitEventResult]:
    stored = store(session, reports, now)
    new = [report for report in reports if stored[report.id] == report.id]
    hand_over(session, new, records.congregations, now)
    evaluated = evaluate(session, new, records, now)
    return {
        report.id: _result(stored[report.id], evaluated.get(report.id))
        for report in reports
    }


def _result(event_id: UUID, evaluated: Evaluated | None) -> EmitEventResult:
    if evaluated is None:  # the same event_id came before
        return EmitEventResult(True, event_id=event_id, is_duplicate=True)
    return EmitEventResult(
        True,
        executions_created=len(evaluated.fired),
        rule_ids=tuple(evaluated.fired),
        event_id=event_id,
        is_duplicate=bool(evaluated.n_duplicates) and not evaluated.fired,
    )
