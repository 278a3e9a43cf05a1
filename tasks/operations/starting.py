"""Operations are begun once: the few rows at once, the many by the lane."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.upsert import insert_new
from tasks.db import Scope, scope_of
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.models import Operation, OperationState
from tasks.models.operation import OPEN
from tasks.operations.audit import Actor
from tasks.operations.bulk import count
from tasks.operations.kinds import Asked, rows_of
from tasks.operations.pieces import PIECE, work
from tasks.operations.releasing import MINUTES
from tasks.operations.seeing import find, record_deed
from tasks.saying import say

LANE: Final = "operations"
#: Where counting stops of what is spread over a time: each row's turn depends on it.
SPREAD_CAP: Final = 1_000_000
WHY_MAX: Final = 300

_S = OperationState


def start(
    session: Session,
    operation_id: UUID,
    asked: Asked,
    actor: Actor,
    *,
    why: str = "",
    n_shown: int | None = None,
    now: datetime,
) -> Operation:
    """Begin an operation; pressed twice with one id, it is begun once.

    What fits into one piece is done at once, the rest is left to the lane.

    Args:
        operation_id: chosen when the number was shown, so that a second press has it.
        why: what the audit log keeps; needed where something is sent again.
        n_shown: the number that was confirmed: no more is done, and what is missing of
            it is told; None: what is counted now.

    Raises:
        InvalidInput: no row is meant, or the reason is missing or too long.
        NotFound: the id is that of an operation that the operator does not see.
    """
    refuse_reason(why, is_again=asked.is_again)
    row = _row(session, operation_id, asked, actor, now) | {"why": why}
    if n_shown is not None and row["n_total"]:
        row["n_total"] = n_shown
    is_new = bool(insert_new(session, Operation, [row], unique=["id"]))
    operation = find(session, operation_id, actor)
    if not is_new:
        return operation
    if not operation.n_total:
        raise InvalidInput(
            "nothing_meant",
            say("Nothing is replayed so: of what is meant, none can be."),
            field="again",
        )
    record_deed(session, operation, actor, "started", f"about {operation.n_total} rows")
    if operation.n_total <= PIECE:
        operation.started_at = now
        # One more than there can be, so that the first piece is the last one.
        work(session, operation, now=now, limit=PIECE + 1)
    if operation.state in OPEN:
        doorbell.ask(session, LANE)
    session.flush()
    return operation


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
        "n_total": count(session, rows_of(session, asked), _cap(asked)),
        "n_done": 0,
        "n_changed": 0,
        "n_made": 0,
        "skipped": {},
        "changed_in": {},
        "tries": 0,
        "touched_at": now,
        "created_at": now,
    }


def _cap(asked: Asked) -> int:
    return SPREAD_CAP if MINUTES in asked.matching else COUNT_CAP


def refuse_reason(why: str, *, is_again: bool) -> None:
    """Raise ``InvalidInput`` where a reason is missing or too long."""
    if is_again and not why:
        raise InvalidInput(
            "why_missing",
            say("Say why it is to be sent again; the audit log keeps it."),
            field="why",
        )
    if len(why) > WHY_MAX:
        raise InvalidInput(
            "why_too_long",
            say(
                "The reason has %(n)s characters; at most %(max)s are kept.",
                n=str(len(why)),
                max=str(WHY_MAX),
            ),
            field="why",
        )
