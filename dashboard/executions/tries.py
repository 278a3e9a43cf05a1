"""The tries at one execution: those that ended, and the one under way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models import Attempt, AttemptOutcome, Execution, ExecutionState

#: Tries of one execution that are shown.
TRIES_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class Try:
    """One try, ended or under way."""

    number: int
    worker: str
    started_at: datetime
    effect_started_at: datetime | None  # None: nothing left the house
    finished_at: datetime | None = None  # None: it is under way
    outcome: AttemptOutcome | None = None
    status_code: int | None = None
    error: str | None = None
    response: str | None = None

    @classmethod
    def of(cls, row: Attempt) -> Self:
        """Return a try that ended."""
        return cls(
            row.number,
            row.worker,
            row.started_at,
            row.effect_started_at,
            row.finished_at,
            row.outcome,
            row.status_code,
            row.error,
            row.response,
        )

    @classmethod
    def under_way(cls, row: Execution) -> Self:
        """Return the try that a worker is at; ``row`` is running."""
        started_at = row.claimed_at or row.run_at
        return cls(row.attempt, row.worker or "", started_at, row.effect_at)


def tries(session: Session, execution: Execution) -> Sequence[Try]:
    """Return the tries at an execution, newest first, up to ``TRIES_MAX``."""
    ended = session.scalars(
        select(Attempt)
        .where(Attempt.execution_id == execution.id)
        .order_by(Attempt.number.desc())
        .limit(TRIES_MAX)
    )
    found = [Try.of(each) for each in ended]
    if execution.state is ExecutionState.RUNNING:
        return [Try.under_way(execution), *found]
    return found
