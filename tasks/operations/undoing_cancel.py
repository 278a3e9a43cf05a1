"""Taking back that an execution was cancelled, while that is still fresh."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict, NotFound
from tasks.models import (
    Execution,
    ExecutionState,
    JobState,
    Reason,
    Replay,
    ScheduledJob,
)
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.executions import LANE
from tasks.operations.matching import is_state
from tasks.saying import say

#: For so long a cancellation by hand can be undone.
UNDO_WITHIN: Final = timedelta(minutes=10)


def can_undo(row: Execution | ScheduledJob, now: datetime) -> bool:
    """Whether an operator cancelled it a moment ago."""
    return (
        row.state in {ExecutionState.CANCELLED, JobState.CANCELLED}
        and row.reason is Reason.OPERATOR
        and row.settled_at is not None
        and row.settled_at > now - UNDO_WITHIN
    )


def undo_cancel(
    session: Session, execution_id: UUID, actor: Actor, *, now: datetime
) -> None:
    """Let a cancelled execution wait again, for the time that it had.

    It is looked at like any other before it acts, so what is too late by then ends.

    Raises:
        NotFound: the session sees no such execution.
        Conflict: it was not cancelled by hand, long ago, or was replayed meanwhile.
    """
    # First, so that the next statement sees the replay of whoever held it.
    wanted = select(Execution.id).where(Execution.id == execution_id)
    session.execute(wanted.with_for_update(key_share=True))
    found = session.execute(
        update(Execution)
        .where(
            Execution.id == execution_id,
            is_state(Execution, ExecutionState.CANCELLED),
            Execution.reason == Reason.OPERATOR,
            Execution.settled_at > now - UNDO_WITHIN,
            ~select(Replay.execution_id)
            .where(Replay.original_id == execution_id)
            .exists(),
        )
        .values(state=ExecutionState.PENDING, reason=None, settled_at=None)
        .returning(Execution.congregation_id)
        .execution_options(synchronize_session=False)
    ).first()
    if found is None:
        _refuse(session, execution_id)
        return
    subject = Subject("execution", str(execution_id), found.congregation_id)
    record(
        session, actor, "execution.uncancelled", subject, "Took the cancelling back."
    )
    doorbell.ask(session, LANE)


def _refuse(session: Session, execution_id: UUID) -> None:
    wanted = select(Execution.state).where(Execution.id == execution_id)
    state = session.scalar(wanted)
    if state is None:
        raise NotFound("unknown_execution", say("There is no such execution."))
    minutes = UNDO_WITHIN // timedelta(minutes=1)
    raise Conflict(
        "not_undoable",
        say(
            "Cancelling can be taken back by hand for %(n)s minutes, unless it was "
            "replayed meanwhile. Replay it instead.",
            n=minutes,
        ),
    )
