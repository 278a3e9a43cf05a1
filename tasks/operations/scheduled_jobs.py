"""What operators may do to scheduled jobs: cancel them, or run them now."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict
from tasks.models import JobState, Reason, ScheduledJob
from tasks.models.rollup import EndedKind
from tasks.operations.allowed import NOT_PENDING
from tasks.operations.audit import Actor
from tasks.operations.bulk import Verb
from tasks.operations.matching import is_state
from tasks.operations.single import Answer, change_one, columns_of
from tasks.rollups.ended import note_ended
from tasks.saying import say

LANE: Final = "scheduled_jobs"


def _cancelled(now: datetime) -> dict[str, Any]:
    return {
        "state": JobState.CANCELLED,
        "reason": Reason.OPERATOR,
        "settled_at": now,
    }


def _plural(n: int) -> str:
    return f"{n} scheduled job" if n == 1 else f"{n} scheduled jobs"


def _note_cancelled(session: Session, ids: Collection[UUID], _now: datetime) -> None:
    """Let the charts count what operators cancelled; one narrow row."""
    note_ended(session, EndedKind.JOB, [(id_, 0) for id_ in sorted(ids)])


_PENDING: Final = is_state(ScheduledJob, JobState.PENDING)
#: Ends what waits.
CANCEL: Final = Verb(
    ScheduledJob,
    "scheduled_job",
    "scheduled_job.cancelled",
    (_PENDING,),
    _cancelled,
    lambda n: f"Cancelled {_plural(n)}.",
    _note_cancelled,
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
    raise Conflict("not_pending", say(NOT_PENDING[state]))


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
    raise Conflict("not_pending", say(NOT_PENDING[state]))
