"""Putting a history together: what the logs outside say, and what the rows say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks import models
from tasks.db import sessions
from tests.chaos.checker import Attempt, Delivery, Execution, History, Job


def collect(engine: Engine, producer: Path, arrivals: Path, **values: Any) -> History:
    """Return the history of an installation at rest."""
    with sessions(engine)() as session:
        return History(
            acknowledged={
                each["event"]: each["executions"] for each in _lines(producer)
            },
            deliveries=[
                _delivery(each) for each in _lines(arrivals) if _is_whole(each)
            ],
            executions=[_execution(row) for row in session.scalars(_all_executions())],
            attempts=[_attempt(row) for row in session.scalars(select(models.Attempt))],
            jobs=[_job(row) for row in session.scalars(select(models.ScheduledJob))],
            audited=_audited(session),
            **values,
        )


def _all_executions() -> Any:
    return select(models.Execution)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def _is_whole(entry: dict[str, Any]) -> bool:
    """Whether a request came to its end; who dies while posting sends half of one."""
    if entry["kind"] == "mail":
        return True
    return len(entry["body"].encode()) == int(entry["headers"]["content-length"])


def _delivery(entry: dict[str, Any]) -> Delivery:
    if entry["kind"] == "mail":
        return Delivery(entry["execution"], entry["message_id"], entry["at"])
    # The same id must bring the same body, byte for byte.
    digest = hashlib.sha256(entry["body"].encode()).hexdigest()[:16]
    execution = str(json.loads(entry["body"])["id"])
    return Delivery(execution, f"{entry['webhook_id']}/{digest}", entry["at"])


def _execution(row: models.Execution) -> Execution:
    return Execution(
        str(row.id),
        _text(row.event_id),
        _text(row.scheduled_job_id),
        row.state.value,
        _text(row.reason),
        row.attempt,
        row.lease_until is not None or row.worker is not None,
    )


def _attempt(row: models.Attempt) -> Attempt:
    return Attempt(
        str(row.execution_id),
        row.number,
        row.started_at.timestamp(),
        _seconds(row.finished_at),
        row.effect_started_at is not None,
        _text(row.outcome),
    )


def _job(row: models.ScheduledJob) -> Job:
    return Job(str(row.id), row.idempotency_key, row.state.value, _text(row.reason))


def _audited(session: Session) -> frozenset[str]:
    entries = select(models.AuditEntry.subject_id).where(
        models.AuditEntry.subject_kind == "execution"
    )
    return frozenset(session.scalars(entries))


def _seconds(instant: datetime | None) -> float | None:
    return None if instant is None else instant.timestamp()


def _text(value: object) -> str | None:
    return None if value is None else str(value)
