"""Rows of webhooks that are valid as they are."""

from __future__ import annotations

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
    delivery = Delivery(
        **of,
        id=new_id(),
        endpoint_id=endpoint.id,
        message_id=message.id,
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
    session.add_all(
        [
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
            ),
            OutboxEntry(**of, event_id=event.id, endpoint_id=endpoint.id, error=mark),
        ]
    )
    session.add(
        AdminMail(
            **of,
            key=mark,
            address=f"{mark}@example.org",
            subject=mark,
            body=mark,
            path=f"/webhooks/{endpoint.id}",
        )
    )
    session.flush()
    return {"endpoint_id": str(endpoint.id), "delivery_id": str(delivery.id)}
