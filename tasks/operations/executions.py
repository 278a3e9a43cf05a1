"""What operators may do to executions: retry them, and cancel what has not begun."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict
from tasks.failures.noting import note_retried
from tasks.models import Execution, ExecutionState, FailedExecution, Reason
from tasks.models.rollup import EndedKind
from tasks.operations.allowed import NOT_CANCELLABLE, NOT_RETRYABLE, RETRYABLE
from tasks.operations.audit import Actor
from tasks.operations.bulk import Verb
from tasks.operations.matching import is_state
from tasks.operations.single import Answer, change_one, columns_of
from tasks.rollups.ended import note_ended
from tasks.saying import say

LANE: Final = "executions"


def _queued(now: datetime) -> dict[str, Any]:
    # The attempt stays: it is the fence, and lowering it would let late writers in.
    # The error stays too, until the next attempt has something to say.
    return {
        "state": ExecutionState.PENDING,
        "run_at": now,
        "failures": 0,
        "crashes": 0,
        "reason": None,
        "settled_at": None,
        "worker": None,
        "lease_until": None,
    }


def _cancelled(now: datetime) -> dict[str, Any]:
    return {
        "state": ExecutionState.CANCELLED,
        "reason": Reason.OPERATOR,
        "settled_at": now,
    }


def _plural(n: int) -> str:
    return f"{n} execution" if n == 1 else f"{n} executions"


def note_cancelled(session: Session, ids: Collection[UUID], _now: datetime) -> None:
    """Let the charts count what operators cancelled; one narrow row."""
    note_ended(session, EndedKind.CANCEL, [(id_, 0) for id_ in sorted(ids)])


def _note(session: Session, ids: Collection[UUID], now: datetime) -> None:
    note_retried(session, FailedExecution, ids, now)


#: Queues what failed for good once more.
RETRY: Final = Verb(
    Execution,
    "execution",
    "execution.retried",
    (Execution.state.in_(RETRYABLE),),
    _queued,
    lambda n: f"Queued {_plural(n)} for another try.",
    _note,
)
#: Ends what no worker has begun.
CANCEL: Final = Verb(
    Execution,
    "execution",
    "execution.cancelled",
    (is_state(Execution, ExecutionState.PENDING),),
    _cancelled,
    lambda n: f"Cancelled {_plural(n)}.",
    note_cancelled,
)


def retry_execution(
    session: Session, execution_id: UUID, actor: Actor, *, now: datetime
) -> Answer:
    """Queue a failed or quarantined execution again, with all its attempts to use.

    Pressed twice, it is queued once: the second answer is ``ALREADY``.

    Raises:
        NotFound: the session sees no such execution.
        Conflict: its state does not allow it; the message says why.
    """
    after = {"state": ExecutionState.PENDING, "failures": 0, "crashes": 0}
    if change_one(session, RETRY, execution_id, actor, now, after):
        doorbell.ask(session, LANE)
        return Answer.DONE
    state = _state(session, execution_id)
    if state in (ExecutionState.PENDING, ExecutionState.RUNNING):
        return Answer.ALREADY
    raise Conflict("not_retryable", say(NOT_RETRYABLE[state]))


def cancel_execution(
    session: Session, execution_id: UUID, actor: Actor, *, now: datetime
) -> Answer:
    """Cancel an execution that no worker has begun; nothing is sent afterwards.

    Raises:
        NotFound: the session sees no such execution.
        Conflict: it is running or has ended; the message says so.
    """
    after = {"state": ExecutionState.CANCELLED}
    if change_one(session, CANCEL, execution_id, actor, now, after):
        return Answer.DONE
    state = _state(session, execution_id)
    if state is ExecutionState.CANCELLED:
        return Answer.ALREADY
    raise Conflict("not_cancellable", say(NOT_CANCELLABLE[state]))


def _state(session: Session, execution_id: UUID) -> ExecutionState:
    state: ExecutionState = columns_of(session, Execution, execution_id, "state")[
        "state"
    ]
    return state
