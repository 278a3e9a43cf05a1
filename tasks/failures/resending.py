"""Sending the deliveries of a group once more."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict, NotFound
from tasks.failures.groups import find
from tasks.failures.noting import note_retried
from tasks.models.delivery import Delivery, DeliveryState
from tasks.models.failure import FailedDelivery
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say
from tasks.webhooks.fanout import LANE, anew
from tasks.webhooks.finding import lock

#: Deliveries that one press sends again; what is left takes another press.
RESEND_MAX: Final = 10_000
_CHUNK: Final = 500


def resend(session: Session, group_id: UUID, actor: Actor, now: datetime) -> int:
    """Send again what of a group is still failed; returns how many.  Caller commits.

    They have the same ids and bodies as before, so receivers know them.

    Raises:
        NotFound: the session sees no such group.
        Conflict: executions failed, or the endpoint is switched off or was removed.
    """
    group = find(session, group_id)
    if group.endpoint_id is None:
        raise Conflict("no_deliveries", say("Executions failed; retry those instead."))
    try:
        endpoint = lock(session, group.endpoint_id)
    except NotFound as error:
        raise Conflict("endpoint_deleted", say("The endpoint was removed.")) from error
    if not endpoint.enabled:
        raise Conflict("endpoint_disabled", say("Switch the endpoint on first."))
    ids = session.scalars(
        select(FailedDelivery.delivery_id)
        .where(FailedDelivery.group_id == group_id, FailedDelivery.retried_at.is_(None))
        .order_by(FailedDelivery.delivery_id)
        .limit(RESEND_MAX)
    ).all()
    n = 0
    for start in range(0, len(ids), _CHUNK):
        revived = session.scalars(
            update(Delivery)
            .where(
                Delivery.id.in_(ids[start : start + _CHUNK]),
                Delivery.state == DeliveryState.FAILED,
            )
            .values(anew(now))
            .returning(Delivery.id)
            .execution_options(synchronize_session=False)
        ).all()
        n += len(revived)
    note_retried(session, FailedDelivery, ids, now)
    if n:
        subject = Subject("failure", str(group_id), group.congregation_id)
        summary = f"Asked for another try of {n} deliveries: {group.cause}"
        record(session, actor, "failure.resent", subject, summary, after={"count": n})
        doorbell.ask(session, LANE)
    return n
