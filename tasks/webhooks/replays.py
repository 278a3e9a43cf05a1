"""Telling endpoints again what they did not get, or lost.

Whatever is sent again has the same id and the same body, so receivers know it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.failures.noting import note_retried
from tasks.models.congregation import Congregation
from tasks.models.delivery import SETTLED, Delivery
from tasks.models.endpoint import Endpoint
from tasks.models.event import Event
from tasks.models.failure import FailedDelivery
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.single import Answer
from tasks.saying import say
from tasks.webhooks.fanout import LANE, anew
from tasks.webhooks.finding import lock
from tasks.webhooks.outbox import hand_over_again
from tasks.webhooks.switching import tell

#: Events that one replay of a time span takes at most, the oldest first.
REPLAY_MAX: Final = 10_000


class Replayed(NamedTuple):
    """What a replay takes up."""

    n_events: int
    until: datetime | None  # None: everything; else it got no further than this


def retry_delivery(
    session: Session, delivery_id: UUID, actor: Actor, now: datetime
) -> Answer:
    """Send one delivery again, also when it arrived.

    Raises:
        NotFound: the session sees no such delivery.
        Conflict: its endpoint is switched off or was removed.
    """
    delivery = session.get(Delivery, delivery_id)
    if delivery is None:
        raise NotFound("unknown_delivery", say("There is no such delivery."))
    try:
        endpoint = _enabled(session, delivery.endpoint_id)
    except NotFound as error:
        raise Conflict("endpoint_deleted", say("The endpoint was removed.")) from error
    revived = session.execute(
        update(Delivery)
        .where(Delivery.id == delivery_id, Delivery.state.in_(SETTLED))
        .values(anew(now))
        .returning(Delivery.id)
        .execution_options(synchronize_session="fetch")
    ).all()
    if not revived:
        return Answer.ALREADY
    note_retried(session, FailedDelivery, [delivery_id], now)
    subject = Subject("delivery", str(delivery_id), delivery.congregation_id)
    summary = f"Asked for another try of {delivery.type} to {endpoint.url}"
    record(session, actor, "delivery.retried", subject, summary)
    doorbell.ask(session, LANE)
    return Answer.DONE


def replay_event(session: Session, event_id: UUID, actor: Actor, now: datetime) -> None:
    """Tell an event again to every endpoint that asks for it.

    Raises:
        NotFound: the session sees no such event.
        Conflict: nobody listens.
    """
    event = session.get(Event, event_id)
    if event is None:
        raise NotFound("unknown_event", say("There is no such event."))
    of = event.congregation_id
    congregation = session.get(Congregation, of)
    if congregation is None or not congregation.has_endpoints:
        raise Conflict(
            "no_endpoint", say("No endpoint of this congregation is enabled.")
        )
    hand_over_again(session, of, [event_id], now, endpoint_id=None, again=True)
    summary = f"Told {event.type} to the webhook endpoints again"
    record(
        session, actor, "event.replayed", Subject("event", str(event_id), of), summary
    )


def replay_span(
    session: Session,
    endpoint_id: UUID,
    since: datetime,
    until: datetime,
    actor: Actor,
    now: datetime,
    *,
    again: bool = False,
) -> Replayed:
    """Tell an endpoint what happened within a span, the oldest first.

    Args:
        until: Not included.
        again: Also what arrived already.

    Raises:
        NotFound: there is no such endpoint.
        Conflict: it is switched off.
        InvalidInput: the span ends before it begins.
    """
    if until <= since:
        raise InvalidInput(
            "bad_span", say("The end must be later than the beginning."), field="until"
        )
    endpoint = _enabled(session, endpoint_id)
    rows = session.execute(
        select(Event.id, Event.created_at)
        .where(*_within(endpoint, since, until))
        .order_by(Event.created_at, Event.id)
        .limit(REPLAY_MAX)
    ).all()
    hand_over_again(
        session,
        endpoint.congregation_id,
        [row.id for row in rows],
        now,
        endpoint_id=endpoint.id,
        again=again,
    )
    summary = f"Asked for the events from {since:%Y-%m-%d %H:%M} UTC on"
    tell(session, endpoint, actor, "endpoint.replayed", summary)
    is_cut = len(rows) == REPLAY_MAX
    return Replayed(len(rows), rows[-1].created_at if is_cut else None)


def _within(
    endpoint: Endpoint, since: datetime, until: datetime
) -> Iterator[ColumnElement[bool]]:
    yield Event.congregation_id == endpoint.congregation_id
    yield Event.created_at >= since
    yield Event.created_at < until
    if endpoint.event_types is not None:
        yield Event.type.in_(endpoint.event_types)
    if endpoint.podcast_ids is not None:
        yield Event.podcast_id.in_(endpoint.podcast_ids)


def _enabled(session: Session, endpoint_id: UUID) -> Endpoint:
    """Lock and return an endpoint, so that it stays on while we give it work."""
    endpoint = lock(session, endpoint_id)
    if not endpoint.enabled:
        raise Conflict("endpoint_disabled", say("Switch the endpoint on first."))
    return endpoint
