"""What other pages tell of webhooks: who was told of an event, who is in trouble."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from tasks.models import Congregation, Delivery, Endpoint, EndpointEnd
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


def n_troubled(session: Session) -> int:
    """Return how many endpoints are about to be, or were, switched off by us."""
    switched_off = (EndpointEnd.GONE, EndpointEnd.FAILING)
    return (
        session.scalar(
            select(func.count(Endpoint.id)).where(
                Endpoint.deleted_at.is_(None),
                or_(
                    and_(Endpoint.enabled, Endpoint.warned_at.is_not(None)),
                    Endpoint.disabled_reason.in_(switched_off),
                ),
            )
        )
        or 0
    )
