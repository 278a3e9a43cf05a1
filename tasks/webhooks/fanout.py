"""Outbox entries become deliveries: one for each endpoint that asks for the event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Table, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.records import chunks
from tasks.bulk import among, is_postgres
from tasks.failures.noting import note_retried
from tasks.locks import in_order
from tasks.lookups import among_keys
from tasks.models.base import new_id
from tasks.models.delivery import SETTLED, Delivery, DeliveryState
from tasks.models.endpoint import Endpoint
from tasks.models.event import Event
from tasks.models.failure import FailedDelivery
from tasks.models.outbox import OutboxEntry
from tasks.webhooks.filters import asks_for
from tasks.webhooks.messages import keep_messages

LANE: Final = "deliveries"
_DELIVERIES: Final[Table] = Delivery.metadata.tables[Delivery.__tablename__]
#: What there is one delivery of.
_PAIR: Final = (Delivery.message_id, Delivery.endpoint_id)


class Wish(NamedTuple):
    """One event for one endpoint."""

    event: Event
    endpoint_id: UUID
    is_replay: bool  # somebody asked for it again
    again: bool  # also when it arrived already


def fan_out(
    session: Session, entries: Sequence[OutboxEntry], now: datetime
) -> list[UUID]:
    """Make the deliveries of outbox entries and remove the entries.

    Returns the ids of the deliveries that are due now.  Twice the same entry gives
    one delivery.  Caller commits.
    """
    wishes = list(_wishes(session, entries))
    events = {wish.event.id: wish.event for wish in wishes}
    keep_messages(session, list(events.values()), now)
    made = _made(session, wishes, now)
    wanted = [wish for wish in wishes if wish.is_replay]
    made += _asked_again(session, wanted, set(made), now)
    session.execute(
        delete(OutboxEntry)
        .where(among(session, OutboxEntry.id, [each.id for each in entries]))
        .execution_options(synchronize_session=False)
    )
    if made:
        doorbell.ask(session, LANE)
    return made


def _wishes(session: Session, entries: Sequence[OutboxEntry]) -> Iterator[Wish]:
    """Yield who wants to hear of what, in the order of the entries."""
    event_ids = list({each.event_id for each in entries})
    found = session.scalars(select(Event).where(among(session, Event.id, event_ids)))
    events = {event.id: event for event in found}
    listening = _listening(session, {each.congregation_id for each in entries})
    for entry in entries:
        event = events[entry.event_id]
        for endpoint in listening[entry.congregation_id]:
            is_meant = entry.endpoint_id in {None, endpoint.id}
            if is_meant and asks_for(endpoint, event):
                is_replay = entry.again or entry.endpoint_id is not None
                yield Wish(event, endpoint.id, is_replay, entry.again)


def _listening(session: Session, of: set[UUID]) -> dict[UUID, list[Endpoint]]:
    """Lock and return the enabled endpoints of congregations.

    Who switches one off waits for us, or we for them: no delivery comes into being
    behind the back of the switch.
    """
    found: defaultdict[UUID, list[Endpoint]] = defaultdict(list)
    for ids in chunks(sorted(of)):
        for endpoint in session.scalars(
            select(Endpoint)
            .where(
                Endpoint.congregation_id.in_(ids),
                Endpoint.enabled,
                Endpoint.deleted_at.is_(None),
            )
            .order_by(Endpoint.id)
            .with_for_update(read=True)
            .execution_options(populate_existing=True)
        ):
            found[endpoint.congregation_id].append(endpoint)
    return found


def _made(session: Session, wishes: Sequence[Wish], now: datetime) -> list[UUID]:
    """Insert the deliveries that are not there yet; returns their ids."""
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    statement = (
        insert(_DELIVERIES)
        .on_conflict_do_nothing(index_elements=["message_id", "endpoint_id"])
        .returning(_DELIVERIES.c.id)
    )
    rows = {(wish.event.id, wish.endpoint_id): _row(wish, now) for wish in wishes}
    made: list[UUID] = []
    # In one order for all: two fan-outs may tell the same events again.
    for piece in chunks([rows[pair] for pair in sorted(rows)]):
        made += session.scalars(statement, list(piece)).all()
    return made


def _row(wish: Wish, now: datetime) -> dict[str, Any]:
    return {
        "id": new_id(now),
        "congregation_id": wish.event.congregation_id,
        "endpoint_id": wish.endpoint_id,
        "message_id": wish.event.id,
        "type": wish.event.type,
        "state": DeliveryState.PENDING,
        "run_at": now,
        "attempt": 0,
        "failures": 0,
        "crashes": 0,
        "created_at": now,
    }


def _asked_again(
    session: Session, wishes: Sequence[Wish], new: set[UUID], now: datetime
) -> list[UUID]:
    """Let deliveries that have ended begin anew; returns their ids."""
    revived: list[UUID] = []
    for again in (False, True):
        pairs = [(w.event.id, w.endpoint_id) for w in wishes if w.again is again]
        ended = SETTLED if again else SETTLED - {DeliveryState.DELIVERED}
        for piece in chunks(pairs):
            revived += session.scalars(
                update(Delivery)
                .where(
                    *in_order(
                        session,
                        Delivery,
                        among_keys(session, _PAIR, piece),
                        Delivery.state.in_(ended),
                    )
                )
                .values(anew(now))
                .returning(Delivery.id)
                .execution_options(synchronize_session=False)
            ).all()
    note_retried(session, FailedDelivery, revived, now)
    return [id_ for id_ in revived if id_ not in new]


def anew(now: datetime) -> dict[str, Any]:
    """Return the columns of a delivery that begins anew; attempts go on counting."""
    return {
        "state": DeliveryState.PENDING,
        "run_at": now,
        "failures": 0,
        "crashes": 0,
        "reason": None,
        "error": None,
        "settled_at": None,
    }
