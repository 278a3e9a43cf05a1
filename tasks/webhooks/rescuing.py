"""Taking back deliveries whose worker died."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.failures.noting import Failure, note_deliveries
from tasks.models.delivery import Delivery, DeliveryAttempt, DeliveryState
from tasks.models.execution import AttemptOutcome
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rollup import EndedKind
from tasks.rollups.ended import note_ended
from tasks.rollups.rescued import note_rescued
from tasks.webhooks.fanout import LANE
from tasks.webhooks.room import IS_RUNNING

#: A delivery that was under way in so many workers when they died is not tried again.
CRASHES_MAX: Final = 10
_UNKNOWN: Final = "The worker vanished while it was sending; it may have arrived."


def take_back(session: Session, now: datetime, limit: int) -> list[UUID]:
    """Let up to ``limit`` deliveries whose lease lapsed be sent again; caller commits.

    The receiver may see one twice, with the same ``webhook-id``.
    """
    overdue = session.scalars(
        select(Delivery)
        .where(IS_RUNNING, Delivery.lease_until < now)
        .order_by(Delivery.lease_until, Delivery.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    note_rescued(session, overdue, now)
    for row in overdue:
        session.add(_attempt(row, now))
        row.crashes += 1
        if row.crashes >= CRASHES_MAX:
            row.error = SENTENCES[Reason.WORKER_CRASHES]
            row.move_to(DeliveryState.FAILED, at=now, reason=Reason.WORKER_CRASHES)
        else:
            row.error = _UNKNOWN
            row.run_at = now
            row.move_to(DeliveryState.PENDING, at=now)
    if overdue:
        doorbell.ask(session, LANE)
    keys = [(row.id, row.attempt) for row in overdue]
    note_ended(session, EndedKind.DELIVERY, keys)
    failed = [
        Failure(row.id, row.congregation_id, row.reason, row.error)
        for row in overdue
        if row.state is DeliveryState.FAILED
    ]
    note_deliveries(session, failed, now)
    return [row.id for row in overdue]


def _attempt(row: Delivery, now: datetime) -> DeliveryAttempt:
    return DeliveryAttempt(
        congregation_id=row.congregation_id,
        delivery_id=row.id,
        number=row.attempt,
        worker=row.worker or "",
        started_at=row.claimed_at or now,
        finished_at=now,
        outcome=AttemptOutcome.UNKNOWN,
        error=_UNKNOWN,
    )
