"""Handing events over to webhook endpoints, in the transaction that stores them.

An entry is written only where somebody listens: the congregation, which is read for
every event anyway, says so.  So where nobody does, no statement and no row is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from sqlalchemy import Table
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.bulk import insert_many
from tasks.models.base import new_id
from tasks.models.congregation import Congregation
from tasks.models.outbox import OutboxEntry

LANE: Final = "fanout"
_OUTBOX: Final[Table] = OutboxEntry.metadata.tables[OutboxEntry.__tablename__]


class Stored(Protocol):
    """An event that was just stored."""

    @property
    def id(self) -> UUID:
        """Its id."""

    @property
    def congregation_id(self) -> UUID:
        """The congregation it happened in."""


def hand_over(
    session: Session,
    events: Sequence[Stored],
    congregations: Mapping[UUID, Congregation],
    now: datetime,
) -> None:
    """Put new events into the outbox of those congregations that have endpoints."""
    heard = [
        (each.congregation_id, each.id)
        for each in events
        if congregations[each.congregation_id].has_endpoints
    ]
    if heard:
        insert_many(session, _OUTBOX, [entry(*each, now) for each in heard])
        doorbell.ask(session, LANE)


def hand_over_again(
    session: Session,
    congregation_id: UUID,
    event_ids: Sequence[UUID],
    now: datetime,
    *,
    endpoint_id: UUID | None,
    again: bool,
) -> None:
    """Put events that were told before into the outbox once more.

    Args:
        event_ids: in the order in which they are to be told.
        endpoint_id: None: every endpoint that asks for them.
        again: also where they arrived already.
    """
    rows = [
        entry(congregation_id, id_, now, endpoint_id=endpoint_id, again=again)
        for id_ in event_ids
    ]
    insert_many(session, _OUTBOX, rows)
    doorbell.ask(session, LANE)


def entry(
    congregation_id: UUID,
    event_id: UUID,
    now: datetime,
    *,
    endpoint_id: UUID | None = None,
    again: bool = False,
) -> dict[str, object]:
    """Return the row of one event on its way."""
    return {
        "id": new_id(),
        "congregation_id": congregation_id,
        "event_id": event_id,
        "endpoint_id": endpoint_id,
        "again": again,
        "run_at": now,
        "failures": 0,
    }
