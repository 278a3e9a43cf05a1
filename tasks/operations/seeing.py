"""Which operations an operator sees, and what the audit log tells of them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select, true
from sqlalchemy.orm import Session

from tasks.db import Scope, scope_of
from tasks.errors import NotFound
from tasks.models import Operation
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.pieces import sentence_of
from tasks.saying import say


def seen_by(session: Session, actor: Actor) -> ColumnElement[bool]:
    """Return what makes an operation visible.

    One about several congregations is seen by operators of all of them, and by who
    began it.
    """
    own = and_(Operation.congregation_id.is_(None), Operation.actor == actor.name)
    return or_(within_scope(session), own)


def within_scope(session: Session) -> ColumnElement[bool]:
    """Return what makes an operation one of the congregations that a session sees."""
    scope = scope_of(session)
    if scope is Scope.EVERY:
        return true()
    return Operation.congregation_id.in_(tuple(scope))


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
        raise NotFound("unknown_operation", say("There is no such operation."))
    return found


def is_begun(session: Session, operation_id: UUID) -> bool:
    """Return whether there is an operation of this id, whoever may see it."""
    found = select(Operation.id).where(Operation.id == operation_id)
    return session.scalar(found) is not None


def record_deed(
    session: Session, operation: Operation, actor: Actor, deed: str, how_far: str
) -> None:
    """Write down that an operation was started, stopped or resumed."""
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
