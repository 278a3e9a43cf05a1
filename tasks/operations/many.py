"""One verb on rows that were ticked, or on the few that match: done at once.

What is more than one piece becomes an operation (``tasks.operations.starting``).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.lane import COUNT_CAP
from tasks.models import OperationKind
from tasks.operations.audit import Actor
from tasks.operations.bulk import (
    SELECTED_MAX,
    Bulk,
    Verb,
    change_matching,
    change_selected,
    count,
)
from tasks.operations.kinds import KINDS, Asked, rows_of
from tasks.operations.pieces import PIECE


def n_meant(session: Session, asked: Asked, limit: int = COUNT_CAP) -> int:
    """Return how many rows are meant; counting stops at ``limit``."""
    return count(session, rows_of(session, asked), limit)


def n_ticked(session: Session, kind: OperationKind, ids: Collection[UUID]) -> int:
    """Return how many of the ticked rows ``change_ticked`` would change."""
    verb = _verb(kind)
    some = list(ids)[:SELECTED_MAX]
    statement = select(verb.model.id).where(verb.model.id.in_(some), *verb.allowed)
    return count(session, statement, SELECTED_MAX)


def change_ticked(
    session: Session,
    kind: OperationKind,
    ids: Collection[UUID],
    actor: Actor,
    *,
    now: datetime,
) -> Bulk:
    """Change those of the ticked rows that allow it.

    Raises:
        InvalidInput: none is ticked, or too many are.
    """
    bulk = change_selected(session, _verb(kind), ids, actor, now)
    _ring(session, kind, bulk)
    return bulk


def change_few(
    session: Session, asked: Asked, actor: Actor, *, now: datetime, limit: int = PIECE
) -> Bulk:
    """Change up to ``limit`` rows that are meant, oldest first."""
    verb = _verb(asked.kind)
    ids = rows_of(session, asked).order_by(verb.model.id)
    told = {"filter": asked.matching, "high_water": asked.high_water.isoformat()}
    bulk = change_matching(session, verb, ids, told, actor, now, limit)
    _ring(session, asked.kind, bulk)
    return bulk


def _ring(session: Session, kind: OperationKind, bulk: Bulk) -> None:
    lane = KINDS[kind].lane
    if bulk.n_done and lane:
        doorbell.ask(session, lane)


def _verb(kind: OperationKind) -> Verb:
    verb = KINDS[kind].verb
    assert verb is not None, kind  # noqa: S101  # replays are never done at once here
    return verb
