"""Rows of webhooks that are valid as they are."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models import (
    AdminMail,
    AttemptOutcome,
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    Endpoint,
    Event,
    OutboxEntry,
    Reason,
    WebhookMessage,
    new_id,
)
from tests.support.factories import NOW


def webhooks(session: Session, event: Event, mark: str) -> dict[str, str]:
    """Add an endpoint that was told of ``event``, with ``mark`` in its texts.

    Returns the ids of the endpoint and its failed delivery.
    """
    endpoint_id = _endpoint(session, event, mark)
    delivery_id = _delivery(session, event, endpoint_id, mark)
    session.add_all(
        [
            OutboxEntry(
                congregation_id=event.congregation_id,
                event_id=event.id,
                endpoint_id=endpoint_id,
                error=mark,
            ),
            AdminMail(
                congregation_id=event.congregation_id,
                key=mark,
                address=f"{mark}@example.org",
                subject=mark,
                body=mark,
                path=f"/webhooks/{endpoint_id}",
            ),
        ]
    )
    session.flush()
    return {"endpoint_id": str(endpoint_id), "delivery_id": str(delivery_id)}


def _endpoint(session: Session, event: Event, mark: str) -> UUID:
    """Add an endpoint, and what it is to be told of the event."""
    of = {"congregation_id": event.congregation_id}
    endpoint = Endpoint(
        **of,
        id=new_id(),
        url=f"https://{mark}.example.org/hook",
        description=f"Website {mark}",
        secret="",
        secret_hint=mark[:4],
        created_by=mark,
        created_at=NOW,
    )
    message = WebhookMessage(
        **of, id=event.id, event_id=event.id, type=event.type, body=f'{{"a": "{mark}"}}'
    )
    session.add_all([endpoint, message])
    session.flush()
    return endpoint.id


def _delivery(session: Session, event: Event, endpoint_id: UUID, mark: str) -> UUID:
    """Add a delivery that failed at its only attempt."""
    of = {"congregation_id": event.congregation_id}
    delivery = Delivery(
        **of,
        id=new_id(),
        endpoint_id=endpoint_id,
        message_id=event.id,
        type=event.type,
        state=DeliveryState.FAILED,
        reason=Reason.ATTEMPTS_USED_UP,
        error=mark,
        run_at=NOW,
        attempt=1,
        settled_at=NOW,
    )
    session.add(delivery)
    session.flush()
    session.add(
        DeliveryAttempt(
            **of,
            delivery_id=delivery.id,
            number=1,
            worker=mark,
            started_at=NOW,
            finished_at=NOW,
            outcome=AttemptOutcome.FAILED,
            error=mark,
            response=mark,
        )
    )
    return delivery.id
