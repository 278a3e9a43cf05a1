"""Failures as the lanes note them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from tasks.failures.noting import Failure, note_deliveries, note_executions
from tasks.models import Delivery, Execution


def note(session: Session, row: Execution, at: datetime) -> None:
    """Note an execution that failed, as its lane does."""
    failure = Failure(row.id, row.congregation_id, row.reason, row.error)
    note_executions(session, [failure], at)


def note_delivery(session: Session, row: Delivery, at: datetime) -> None:
    """Note a delivery that failed, as its lane does."""
    failure = Failure(row.id, row.congregation_id, row.reason, row.error)
    note_deliveries(session, [failure], at)
