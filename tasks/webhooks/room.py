"""How many more attempts each endpoint may get now, counted for all workers together.

What is under way are the running deliveries, so there is no counter that could go
wrong.  They are counted while nobody else begins any to the same endpoints: of two
that claim in the same instant, the second one sees what the first one took.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, case, func, literal_column, select, true
from sqlalchemy.orm import Session

from tasks.arrays import elements, values_of
from tasks.bulk import among, is_postgres
from tasks.holds.looking import Closed
from tasks.lookups import unindexed
from tasks.models.delivery import Delivery
from tasks.models.endpoint import Endpoint

#: So many attempts may be under way to one endpoint, in all workers together.
IN_FLIGHT_MAX: Final = 8
#: After so many failures in a row an endpoint gets one attempt at a time, until one
#: of them arrives.
TROUBLED_FROM: Final = 3
#: Endpoints that share one claim; with more of them, a random choice takes turns.
SHARING_MAX: Final = 50
#: The first half of PostgreSQL's advisory locks of endpoints; theirs is the second.
_LOCKS: Final = 0x454E_4450

IS_PENDING: Final = Delivery.state == literal_column("'pending'")
IS_RUNNING: Final = Delivery.state == literal_column("'running'")

#: Endpoints, and how many attempts each may begin.
Room = Sequence[tuple[Endpoint, int]]


def room(session: Session, now: datetime, held: Closed, limit: int) -> Room:
    """Return up to ``limit`` endpoints with something due, and room for it.

    Until the transaction ends nobody else begins an attempt to one of them.
    """
    found = _found(session, now, held)[:limit]
    if not found or not is_postgres(session):
        return found  # SQLite has one writer, and we are it
    ids = [endpoint.id for endpoint, _ in found]
    _wait_for_turn(session, ids)
    # Anew, with what they began for whom we waited.
    return _found(session, now, held, ids)


def _found(
    session: Session, now: datetime, held: Closed, of: Sequence[UUID] | None = None
) -> Room:
    # Not by the endpoint: that index has all deliveries that there ever were.
    endpoint_id = unindexed(Delivery.endpoint_id).label("endpoint_id")
    running = select(endpoint_id).where(IS_RUNNING).subquery()
    under_way = (
        select(running.c.endpoint_id, func.count().label("n"))
        .group_by(running.c.endpoint_id)
        .subquery()
    )
    is_troubled = Endpoint.failures >= TROUBLED_FROM
    free = case((is_troubled, 1), else_=IN_FLIGHT_MAX) - func.coalesce(under_way.c.n, 0)
    due = select(Delivery.id).where(
        Delivery.endpoint_id == Endpoint.id, IS_PENDING, Delivery.run_at <= now
    )
    is_open = Endpoint.congregation_id.not_in(held.congregations)
    rows = session.execute(
        select(Endpoint, free)
        .outerjoin(under_way, under_way.c.endpoint_id == Endpoint.id)
        .where(Endpoint.enabled, Endpoint.deleted_at.is_(None), due.exists(), free > 0)
        .where(is_open if held.congregations else true())
        .where(true() if of is None else among(session, Endpoint.id, of))
        .order_by(func.random())
        .limit(SHARING_MAX)
        .execution_options(populate_existing=True)
    )
    return [(endpoint, n_free) for endpoint, n_free in rows]


def _wait_for_turn(session: Session, endpoint_ids: Sequence[UUID]) -> None:
    """Wait for those who claim deliveries of the endpoints at this moment.

    Their rows are not locked: who fans out holds them for long.  Two endpoints with
    one key wait for each other for nothing, and no more than that.
    """
    keys = sorted({int.from_bytes(id_.bytes[-4:], signed=True) for id_ in endpoint_ids})
    # One order for all, or two of them could deadlock.
    each = elements("keys", Integer())
    statement = select(func.pg_advisory_xact_lock(_LOCKS, each))
    session.execute(statement, {"keys": values_of(Integer(), keys)}).all()
