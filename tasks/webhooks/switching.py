"""Switching endpoints on and off, and what follows for their congregation.

Whoever switches holds the endpoint's row, so nobody makes or settles a delivery of it
at the same time.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from tasks.locks import in_order
from tasks.models.congregation import Congregation
from tasks.models.delivery import Delivery, DeliveryState
from tasks.models.endpoint import Endpoint, EndpointEnd
from tasks.models.reason import Reason
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import mark

#: Why an endpoint is off -> a sentence for operators.
OFF: Final = {
    EndpointEnd.OPERATOR: mark("An operator switched it off."),
    EndpointEnd.GONE: mark("It answered 410: it is gone for good."),
    EndpointEnd.FAILING: mark("It failed for too long."),
}


def switch_off(
    session: Session, endpoint: Endpoint, why: EndpointEnd, actor: Actor, now: datetime
) -> None:
    """Switch a locked endpoint off and end what waits for it; caller commits."""
    endpoint.enabled = False
    endpoint.disabled_at = now
    endpoint.disabled_reason = why
    endpoint.updated_at = now
    session.flush()
    end_pending(session, endpoint.id, Reason.ENDPOINT_DISABLED, now)
    note_listeners(session, endpoint.congregation_id)
    tell(session, endpoint, actor, "endpoint.disabled", f"Switched off: {OFF[why]}")


def end_pending(
    session: Session, endpoint_id: UUID, why: Reason, now: datetime
) -> None:
    """End the deliveries that wait for an endpoint; they may be sent again later."""
    session.execute(
        update(Delivery)
        .where(
            *in_order(
                session,
                Delivery,
                Delivery.endpoint_id == endpoint_id,
                Delivery.state == DeliveryState.PENDING,
            )
        )
        .values(state=DeliveryState.DISABLED, reason=why, settled_at=now)
        .execution_options(synchronize_session=False)
    )


def note_listeners(session: Session, congregation_id: UUID) -> None:
    """Say at the congregation whether an enabled endpoint hears of its events.

    The row is locked before endpoints are looked at: of two that switch at the same
    time, the second one sees what the first one did.
    """
    session.flush()
    session.execute(
        select(Congregation.id)
        .where(Congregation.id == congregation_id)
        .with_for_update(key_share=True)
    )
    listens = select(
        exists().where(
            Endpoint.congregation_id == congregation_id,
            Endpoint.enabled,
            Endpoint.deleted_at.is_(None),
        )
    )
    session.execute(
        update(Congregation)
        .where(Congregation.id == congregation_id)
        .values(has_endpoints=bool(session.scalar(listens)))
        .execution_options(synchronize_session="fetch")
    )


def tell(
    session: Session,
    endpoint: Endpoint,
    actor: Actor,
    action: str,
    summary: str,
    **told: dict[str, object] | None,
) -> None:
    """Add an audit entry about an endpoint."""
    subject = Subject("endpoint", str(endpoint.id), endpoint.congregation_id)
    record(session, actor, action, subject, f"{summary} ({name_of(endpoint)})", **told)


def name_of(endpoint: Endpoint) -> str:
    """Return what operators call an endpoint."""
    return endpoint.description or endpoint.url
