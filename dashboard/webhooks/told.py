"""Which endpoints were told of an event, for the event's own page."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models import Congregation, Delivery, Endpoint
from tasks.webhooks.endpoint_fields import ENDPOINTS_MAX
from tasks.webhooks.switching import name_of


def told_of(session: Session, event_id: UUID) -> Sequence[tuple[Delivery, str]]:
    """Return the deliveries of an event, each with its endpoint's name."""
    rows = session.execute(
        select(Delivery, Endpoint)
        .join(Endpoint, Endpoint.id == Delivery.endpoint_id)
        .where(Delivery.message_id == event_id)  # a message has its event's id
        .order_by(Delivery.id)
        .limit(2 * ENDPOINTS_MAX)
    )
    return [(delivery, name_of(endpoint)) for delivery, endpoint in rows]


def listens(session: Session, congregation_id: UUID) -> bool:
    """Whether an enabled endpoint hears of a congregation."""
    has_any = select(Congregation.has_endpoints).filter_by(id=congregation_id)
    return bool(session.scalar(has_any))
