"""Working an operation off: piece by piece, each in one transaction.

The piece's rows and the operation's progress change together.  So a worker that dies
leaves whole pieces behind, and whoever goes on begins with the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.db import seeing_only
from tasks.lane import COUNT_CAP
from tasks.models import Operation, OperationState
from tasks.models.base import Json
from tasks.operations.acted import Acted
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.kinds import KINDS, THEN_RESUME, rows_of

#: Rows in one piece: short enough for other writers to get their turn in between.
PIECE: Final = 200
#: Skipped rows that are named for each reason.
NAMED_MAX: Final = 5


def work(
    session: Session, operation: Operation, *, now: datetime, limit: int = PIECE
) -> bool:
    """Do the next ``limit`` rows; returns whether the operation has come to its end.

    The operation must be locked and open; the caller commits.
    """
    ids = _next(session, operation, limit)[: _left(operation)]
    if ids:
        acted = KINDS[operation.kind].act(session, operation, ids, now)
        _count(operation, acted, len(ids))
        operation.last_id = ids[-1]
    operation.tries = 0
    operation.lease_until = None
    if len(ids) < limit:
        _end(session, operation, now)
        return True
    return False


def _left(operation: Operation) -> int | None:
    """Return how many rows more were told; None: their number was not counted.

    What waits leaves the window of a search when it is done, and lets in others.
    """
    if operation.n_total >= COUNT_CAP:
        return None
    return max(operation.n_total - operation.n_done, 0)


def _next(session: Session, operation: Operation, limit: int) -> Sequence[UUID]:
    """Return what comes next of what the operator saw who asked for it."""
    if operation.scope is None:
        return _first(session, operation, limit)
    seen = frozenset(UUID(text) for text in operation.scope)
    with seeing_only(session, seen) as narrower:
        return _first(narrower, operation, limit)


def _first(session: Session, operation: Operation, limit: int) -> Sequence[UUID]:
    model: Any = KINDS[operation.kind].model
    statement = rows_of(session, operation)
    if operation.last_id is not None:
        statement = statement.where(model.id > operation.last_id)
    return session.scalars(statement.order_by(model.id).limit(limit)).all()


def _count(operation: Operation, acted: Acted, n_rows: int) -> None:
    operation.n_done += n_rows
    operation.n_changed += len(acted.changed)
    operation.n_made += acted.n_made
    operation.skipped = _with_skipped(operation.skipped, acted)
    counted = Counter(operation.changed_in)
    counted.update(str(congregation_id) for congregation_id, _ in acted.changed)
    operation.changed_in = dict(counted)


def _with_skipped(before: Json, acted: Acted) -> Json:
    """Return a new value: a change inside of the old one would not be noticed."""
    skipped = dict(before)
    for why, ids in acted.skipped.items():
        known = skipped.get(why, {"n": 0, "ids": []})
        named = [*known["ids"], *map(str, ids)][:NAMED_MAX]
        skipped[why] = {"n": known["n"] + len(ids), "ids": named}
    return skipped


def _end(session: Session, operation: Operation, now: datetime) -> None:
    operation.state = OperationState.DONE
    operation.ended_at = now
    operation.error = None
    _go_on(session, operation, now)
    for congregation_id in _touched(operation):
        n_changed = operation.changed_in.get(str(congregation_id), 0)
        record(
            session,
            Actor(operation.actor),
            "operation.ended",
            Subject("operation", str(operation.id), congregation_id),
            f"{sentence_of(operation)}: {n_changed} rows changed.",
            after={"changed": n_changed, "kind": operation.kind.value},
        )


def _go_on(session: Session, operation: Operation, now: datetime) -> None:
    """Let the lane, or the rule, go on that waited for this to be done."""
    # Not above: the registry, which knows the lanes, knows this one as well.
    from tasks.holds.rules import enable_afterwards
    from tasks.operations.lanes import resume_lane

    enable_afterwards(session, operation, now)
    if (name := operation.matching.get(THEN_RESUME)) is not None:
        resume_lane(session, name, Actor(operation.actor), now=now)


def _touched(operation: Operation) -> Sequence[UUID | None]:
    """Return whose audit log tells of it: each congregation reads of its own rows."""
    if operation.congregation_id is not None:
        return [operation.congregation_id]
    return [UUID(text) for text in operation.changed_in] or [None]


def sentence_of(operation: Operation) -> str:
    """Return what an operation does, in a few words.

    >>> sentence_of(Operation(kind="retry_executions", is_again=False))
    'Retry executions'
    """
    words = str(operation.kind).replace("_", " ").replace("jobs", "scheduled jobs")
    again = ", also those that were sent" if operation.is_again else ""
    return f"{words.capitalize()}{again}"
