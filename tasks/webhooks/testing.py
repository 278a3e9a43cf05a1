"""Trying an endpoint out, with an event that never happened."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict
from tasks.models.base import new_id
from tasks.models.delivery import Delivery
from tasks.operations.audit import Actor
from tasks.saying import say
from tasks.webhooks.fanout import LANE
from tasks.webhooks.finding import lock
from tasks.webhooks.messages import trial_message
from tasks.webhooks.switching import tell


def send_test(
    session: Session, endpoint_id: UUID, actor: Actor, now: datetime
) -> Delivery:
    """Send an event that never happened to one endpoint.

    Raises:
        NotFound: there is none.
        Conflict: it is switched off.
    """
    endpoint = lock(session, endpoint_id)
    if not endpoint.enabled:
        raise Conflict("endpoint_disabled", say("Switch the endpoint on first."))
    message = trial_message(endpoint.congregation_id, now)
    session.add(message)
    session.flush()
    delivery = Delivery(
        id=new_id(now),
        congregation_id=endpoint.congregation_id,
        endpoint_id=endpoint.id,
        message_id=message.id,
        type=message.type,
        run_at=now,
        created_at=now,
    )
    session.add(delivery)
    tell(session, endpoint, actor, "endpoint.tested", "Sent a test")
    session.flush()
    doorbell.ask(session, LANE)
    return delivery
