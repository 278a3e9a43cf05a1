"""Operations: begun once, stopped between two pieces, and resumed where they were."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select, true, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.upsert import insert_new
from tasks.db import Scope, scope_of
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.lane import COUNT_CAP
from tasks.models import Operation, OperationState
from tasks.models.operation import OPEN, RESUMABLE
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.bulk import count
from tasks.operations.kinds import Asked, rows_of
from tasks.operations.pieces import PIECE, sentence_of, work
from tasks.operations.single import Answer

LANE: Final = "operations"
WHY_MAX: Final = 300

_S = OperationState


def start(
    session: Session,
    operation_id: UUID,
    asked: Asked,
    actor: Actor,
    *,
    why: str = "",
    now: datetime,
) -> Operation:
    """Begin an operation; pressed twice with one id, it is begun once.

    What fits into one piece is done at once, the rest is left to the lane.

    Args:
        operation_id: chosen when the number was shown, so that a second press has it.
        why: what the audit log keeps; needed where something is sent again.

    Raises:
        InvalidInput: the reason is missing, or too long.
        NotFound: the id is that of an operation that the operator does not see.
    """
    _refuse_reason(why, is_again=asked.is_again)
    row = _row(session, operation_id, asked, actor, now) | {"why": why}
    is_new = bool(insert_new(session, Operation, [row], unique=["id"]))
    operation = find(session, operation_id, actor)
    if not is_new:
        return operation
    _record(session, operation, actor, "started", f"about {operation.n_total} rows")
    if operation.n_total <= PIECE:
        operation.started_at = now
        # One more than there can be, so that the first piece is the last one.
        work(session, operation, now=now, limit=PIECE + 1)
    if operation.state in OPEN:
        doorbell.ask(session, LANE)
    session.flush()
    return operation


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
        _record(session, operation, actor, "stopped", f"after {operation.n_done} rows")
        return Answer.DONE
    if operation.state is _S.STOPPED:
        return Answer.ALREADY
    raise Conflict("operation_ended", "It has ended already; nothing is left to stop.")


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
        raise Conflict("operation_ended", "It is done; nothing is left to go on with.")
    doorbell.ask(session, LANE)
    if before in OPEN:
        return Answer.ALREADY
    _record(session, operation, actor, "resumed", f"after {operation.n_done} rows")
    return Answer.DONE


def seen_by(session: Session, actor: Actor) -> ColumnElement[bool]:
    """Return what makes an operation visible.

    One about several congregations is seen by operators of all of them, and by who
    began it.
    """
    scope = scope_of(session)
    if scope is Scope.EVERY:
        return true()
    own = and_(Operation.congregation_id.is_(None), Operation.actor == actor.name)
    return or_(Operation.congregation_id.in_(tuple(scope)), own)


def find(session: Session, operation_id: UUID, actor: Actor) -> Operation:
    """Return an operation as it is now.

    Raises:
        NotFound: the operator sees no such operation.
    """
    found = session.scalars(
        select(Operation)
        .where(Operation.id == operation_id, seen_by(session, actor))
        .execution_options(populate_existing=True)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_operation", "There is no such operation.")
    return found


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


def _row(
    session: Session, id_: UUID, asked: Asked, actor: Actor, now: datetime
) -> dict[str, Any]:
    scope = scope_of(session)
    seen = None if scope is Scope.EVERY else sorted(map(str, scope))
    only = asked.matching.get("congregation_id") or (
        seen[0] if seen is not None and len(seen) == 1 else None
    )
    return {
        "id": id_,
        "congregation_id": UUID(only) if only else None,
        "scope": seen,
        "kind": asked.kind,
        "matching": asked.matching,
        "high_water": asked.high_water,
        "is_again": asked.is_again,
        "actor": actor.name[:255],
        "state": _S.QUEUED,
        "n_total": count(session, rows_of(session, asked), COUNT_CAP),
        "n_done": 0,
        "n_changed": 0,
        "n_made": 0,
        "skipped": {},
        "changed_in": {},
        "tries": 0,
        "touched_at": now,
        "created_at": now,
    }


def _refuse_reason(why: str, *, is_again: bool) -> None:
    if is_again and not why:
        raise InvalidInput(
            "why_missing",
            "Say why it is to be sent again; the audit log keeps it.",
            field="why",
        )
    if len(why) > WHY_MAX:
        raise InvalidInput(
            "why_too_long",
            f"The reason has {len(why)} characters; at most {WHY_MAX} are kept.",
            field="why",
        )


def _record(
    session: Session, operation: Operation, actor: Actor, deed: str, how_far: str
) -> None:
    told: dict[str, Any] = {
        "kind": operation.kind.value,
        "matching": operation.matching,
        "high_water": operation.high_water.isoformat(),
        "again": operation.is_again,
        "why": operation.why,
        "total": operation.n_total,
        "done": operation.n_done,
    }
    record(
        session,
        actor,
        f"operation.{deed}",
        Subject("operation", str(operation.id), operation.congregation_id),
        f"{sentence_of(operation)}: {deed}, {how_far}.",
        after=told,
    )
