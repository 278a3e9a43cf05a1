"""What the pages of deliveries read: few queries, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.errors import NotFound
from tasks.models import (
    Congregation,
    Delivery,
    DeliveryAttempt,
    Endpoint,
    WebhookMessage,
)
from tasks.operations.deliveries import DeliveryMatching
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery as a list shows it."""

    delivery: Delivery
    endpoint: Endpoint
    congregation: str

    @property
    def why_no_retry(self) -> str | None:
        """Why it cannot be sent again now; None: it can."""
        if self.endpoint.deleted_at is not None:
            return say("The endpoint was removed.")
        if not self.endpoint.enabled:
            return say("Switch the endpoint on first.")
        if self.delivery.settled_at is None:
            return say("It is on its way already.")
        return None


def listed(wanted: DeliveryMatching) -> Select[Delivery, Endpoint, str]:
    """Select the deliveries in the order of ``DeliveryRow``'s fields."""
    return _rows().where(*wanted.conditions())


def _rows() -> Select[Delivery, Endpoint, str]:
    return (
        select(Delivery, Endpoint, Congregation.name)
        .join(Endpoint, Endpoint.id == Delivery.endpoint_id)
        .join(Congregation, Congregation.id == Delivery.congregation_id)
    )


def deliveries(
    session: Session, wanted: DeliveryMatching, cursor: str | None, limit: int
) -> Page[DeliveryRow]:
    """Return a page of deliveries, newest first."""
    page = paginate(session, listed(wanted), [Delivery.id.desc()], cursor, limit)
    rows = [DeliveryRow(*row) for row in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def delivery(session: Session, delivery_id: UUID) -> DeliveryRow:
    """Return one delivery.

    Raises:
        NotFound: the session sees no such delivery.
    """
    found = session.execute(_rows().where(Delivery.id == delivery_id)).one_or_none()
    if found is None:
        raise NotFound("unknown_delivery", say("There is no such delivery."))
    return DeliveryRow(*found)


def attempts(session: Session, delivery_id: UUID) -> Sequence[DeliveryAttempt]:
    """Return the tries at a delivery that have ended, newest first."""
    return session.scalars(
        select(DeliveryAttempt)
        .where(DeliveryAttempt.delivery_id == delivery_id)
        .order_by(DeliveryAttempt.number.desc())
        .limit(100)
    ).all()


def message(session: Session, message_id: UUID) -> WebhookMessage:
    """Return what endpoints are told."""
    return session.scalars(select(WebhookMessage).filter_by(id=message_id)).one()
