"""Operations are stopped between two pieces, and resumed where they were."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict
from tasks.models import Operation, OperationState
from tasks.models.operation import OPEN, RESUMABLE
from tasks.operations.audit import Actor
from tasks.operations.seeing import find, record_deed
from tasks.operations.single import Answer
from tasks.operations.starting import LANE
from tasks.saying import say

_S = OperationState


class Verb(Protocol):
    """Stopping or resuming."""

    def __call__(
        self, session: Session, operation_id: UUID, actor: Actor, *, now: datetime
    ) -> Answer:
        """Change one operation and say whether that was new."""


def stop(
    session: Session, operation_id: UUID, actor: Actor, *, now: datetime
) -> Answer:
    """Stop an operation; the piece under way is finished before this returns.

    Raises:
        NotFound: the operator sees no such operation.
        Conflict: it has ended already.
    """
    find(session, operation_id, actor)
    values = {"state": _S.STOPPED, "ended_at": now, "lease_until": None}
    operation = _move(session, operation_id, OPEN, values)
    if operation.state is _S.STOPPED and operation.ended_at == now:
        record_deed(
            session, operation, actor, "stopped", f"after {operation.n_done} rows"
        )
        return Answer.DONE
    if operation.state is _S.STOPPED:
        return Answer.ALREADY
    told = say("It has ended already; nothing is left to stop.")
    raise Conflict("operation_ended", told)


def resume(
    session: Session, operation_id: UUID, actor: Actor, *, now: datetime
) -> Answer:
    """Let an operation go on behind the last row that was done.

    Raises:
        NotFound: the operator sees no such operation.
        Conflict: it is done.
    """
    before = find(session, operation_id, actor).state
    values: dict[str, Any] = {
        "state": _S.QUEUED,
        "tries": 0,
        "error": None,
        "ended_at": None,
        "lease_until": None,
        "touched_at": now,
    }
    operation = _move(session, operation_id, RESUMABLE, values)
    if operation.state is _S.DONE:
        told = say("It is done; nothing is left to go on with.")
        raise Conflict("operation_ended", told)
    doorbell.ask(session, LANE)
    if before in OPEN:
        return Answer.ALREADY
    record_deed(session, operation, actor, "resumed", f"after {operation.n_done} rows")
    return Answer.DONE


def _move(
    session: Session,
    operation_id: UUID,
    states: tuple[OperationState, ...],
    values: dict[str, Any],
) -> Operation:
    """Change the row if its state allows it; return it as it is now.

    The lane holds the row for as long as a piece takes, so this waits for its end.
    """
    session.execute(
        update(Operation)
        .where(Operation.id == operation_id, Operation.state.in_(states))
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    return session.get_one(Operation, operation_id, populate_existing=True)
