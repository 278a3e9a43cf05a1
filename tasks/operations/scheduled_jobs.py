"""What operators may do to scheduled jobs: cancel them, or run them now."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict
from tasks.models import JobState, Reason, ScheduledJob
from tasks.operations.allowed import NOT_PENDING
from tasks.operations.audit import Actor
from tasks.operations.bulk import (
    BULK_MAX,
    SELECTED_MAX,
    Bulk,
    Verb,
    change_matching,
    change_selected,
    count,
)
from tasks.operations.matching import Matching, is_state, narrow
from tasks.operations.single import Answer, change_one, columns_of

LANE: Final = "scheduled_jobs"


def _cancelled(now: datetime) -> dict[str, Any]:
    return {
        "state": JobState.CANCELLED,
        "reason": Reason.OPERATOR,
        "settled_at": now,
    }


def _plural(n: int) -> str:
    return f"{n} scheduled job" if n == 1 else f"{n} scheduled jobs"


_PENDING: Final = is_state(ScheduledJob, JobState.PENDING)
#: Ends what waits.
CANCEL: Final = Verb(
    ScheduledJob,
    "scheduled_job",
    "scheduled_job.cancelled",
    (_PENDING,),
    _cancelled,
    lambda n: f"Cancelled {_plural(n)}.",
)
_RUN_NOW: Final = Verb(
    ScheduledJob,
    "scheduled_job",
    "scheduled_job.run_now",
    (_PENDING,),
    lambda now: {"run_at": now},
    lambda n: f"Let {_plural(n)} run now instead of later.",
)


def cancel_job(
    session: Session, job_id: UUID, actor: Actor, *, now: datetime
) -> Answer:
    """Cancel a job that waits; it never becomes an execution.

    Raises:
        NotFound: the session sees no such job.
        Conflict: it has ended otherwise; the message says how.
    """
    after = {"state": JobState.CANCELLED}
    if change_one(session, CANCEL, job_id, actor, now, after):
        return Answer.DONE
    state = columns_of(session, ScheduledJob, job_id, "state")["state"]
    if state is JobState.CANCELLED:
        return Answer.ALREADY
    raise Conflict("not_pending", NOT_PENDING[state])


def cancel_many(
    session: Session, ids: Collection[UUID], actor: Actor, *, now: datetime
) -> Bulk:
    """Cancel those of the selected jobs that still wait.

    Raises:
        InvalidInput: none is selected, or too many are.
    """
    return change_selected(session, CANCEL, ids, actor, now)


def cancel_matching(
    session: Session,
    matching: Matching,
    high_water: datetime,
    actor: Actor,
    *,
    now: datetime,
    limit: int = BULK_MAX,
) -> Bulk:
    """Cancel every job that waits and matches, soonest first.

    Args:
        high_water: what was planned after this instant is left alone, since nobody
            saw it when the number was confirmed.
        limit: the most rows at once.
    """
    asked = {"filter": matching.as_json(), "high_water": high_water.isoformat()}
    ids = _waiting(matching, high_water)
    return change_matching(session, CANCEL, ids, asked, actor, now, limit)


def count_cancellable(
    session: Session, matching: Matching, high_water: datetime, limit: int = BULK_MAX
) -> int:
    """Return how many jobs ``cancel_matching`` would cancel, up to ``limit``."""
    return count(session, _waiting(matching, high_water), limit)


def count_selected(session: Session, ids: Collection[UUID]) -> int:
    """Return how many of the selected jobs ``cancel_many`` would cancel."""
    statement = select(ScheduledJob.id).where(
        ScheduledJob.id.in_(list(ids)[:SELECTED_MAX]), _PENDING
    )
    return count(session, statement, SELECTED_MAX)


def run_now(session: Session, job_id: UUID, actor: Actor, *, now: datetime) -> Answer:
    """Let a job's time be now; ``ALREADY`` when it has come anyway.

    The rule's checks are made as always; ``due_at`` keeps what was promised.

    Raises:
        NotFound: the session sees no such job.
        Conflict: it does not wait any more; the message says why.
    """
    job = columns_of(session, ScheduledJob, job_id, "state", "run_at")
    if job["state"] is JobState.PENDING and job["run_at"] <= now:
        return Answer.ALREADY
    if change_one(session, _RUN_NOW, job_id, actor, now, {"run_at": now}):
        doorbell.ask(session, LANE)
        return Answer.DONE
    state = columns_of(session, ScheduledJob, job_id, "state")["state"]
    raise Conflict("not_pending", NOT_PENDING[state])


def _waiting(matching: Matching, high_water: datetime) -> Select[UUID]:
    statement = select(ScheduledJob.id).where(
        _PENDING, ScheduledJob.created_at <= high_water
    )
    return narrow(statement, ScheduledJob, matching).order_by(
        ScheduledJob.run_at, ScheduledJob.id
    )
