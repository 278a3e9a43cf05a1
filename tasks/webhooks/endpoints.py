"""What may be done to endpoints: added, changed, switched, removed."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.errors import NotFound
from tasks.models.base import new_id
from tasks.models.congregation import Congregation
from tasks.models.endpoint import Endpoint, EndpointEnd
from tasks.models.reason import Reason
from tasks.operations.audit import Actor
from tasks.saying import say
from tasks.secrets import SecretBox, new_webhook_secret
from tasks.webhooks.endpoint_fields import EndpointChange, check_number, checked
from tasks.webhooks.finding import lock
from tasks.webhooks.rotating import hint_of
from tasks.webhooks.switching import end_pending, note_listeners, switch_off, tell


def add_endpoint(
    session: Session,
    congregation_id: UUID,
    change: EndpointChange,
    actor: Actor,
    *,
    box: SecretBox,
    now: datetime,
) -> tuple[Endpoint, str]:
    """Add an endpoint and return it with its secret, which is not shown again.

    Raises:
        NotFound: the session sees no such congregation.
        InvalidInput: something about it is wrong.
    """
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    check_number(session, congregation_id)
    secret = new_webhook_secret()
    endpoint = Endpoint(
        id=new_id(),
        congregation_id=congregation_id,
        **checked(session, congregation_id, change),
        enabled=True,
        failures=0,
        secret=box.seal(secret),
        secret_hint=hint_of(secret),
        created_by=actor.name[:255],
        created_at=now,
        updated_at=now,
    )
    session.add(endpoint)
    note_listeners(session, congregation_id)
    tell(session, endpoint, actor, "endpoint.created", "Added", after=_told(endpoint))
    return endpoint, secret


def edit_endpoint(
    session: Session,
    endpoint_id: UUID,
    change: EndpointChange,
    actor: Actor,
    now: datetime,
) -> Endpoint:
    """Change an endpoint; what waits for it goes to the new address.

    Raises:
        NotFound: there is none.
        InvalidInput: something about it is wrong.
    """
    endpoint = lock(session, endpoint_id)
    before = _told(endpoint)
    for name, value in checked(session, endpoint.congregation_id, change).items():
        setattr(endpoint, name, value)
    endpoint.updated_at = now
    session.flush()
    after = _told(endpoint)
    tell(
        session,
        endpoint,
        actor,
        "endpoint.edited",
        "Changed",
        before=before,
        after=after,
    )
    return endpoint


def enable(
    session: Session, endpoint_id: UUID, actor: Actor, now: datetime
) -> datetime | None:
    """Switch an endpoint on; its past failures are forgotten.

    Returns since when it was off; ``None``: it was on already.

    Raises:
        NotFound: there is none.
    """
    endpoint = lock(session, endpoint_id)
    if endpoint.enabled:
        return None
    since = endpoint.disabled_at or endpoint.updated_at
    endpoint.enabled = True
    endpoint.disabled_at = endpoint.disabled_reason = None
    endpoint.failures = 0
    endpoint.failing_since = endpoint.warned_at = None
    endpoint.updated_at = now
    note_listeners(session, endpoint.congregation_id)
    tell(session, endpoint, actor, "endpoint.enabled", "Switched on")
    return since


def disable(session: Session, endpoint_id: UUID, actor: Actor, now: datetime) -> bool:
    """Switch an endpoint off and end what waits for it; ``False``: it was off already.

    Raises:
        NotFound: there is none.
    """
    endpoint = lock(session, endpoint_id)
    if not endpoint.enabled:
        return False
    switch_off(session, endpoint, EndpointEnd.OPERATOR, actor, now)
    return True


def remove(
    session: Session, endpoint_id: UUID, actor: Actor, now: datetime
) -> Endpoint:
    """Remove an endpoint; what was sent to it stays readable.

    Raises:
        NotFound: there is none.
    """
    endpoint = lock(session, endpoint_id)
    endpoint.enabled = False
    endpoint.deleted_at = endpoint.updated_at = now
    session.flush()
    end_pending(session, endpoint.id, Reason.ENDPOINT_DELETED, now)
    note_listeners(session, endpoint.congregation_id)
    tell(
        session, endpoint, actor, "endpoint.deleted", "Removed", before=_told(endpoint)
    )
    return endpoint


def _told(endpoint: Endpoint) -> dict[str, Any]:
    names = ("url", "description", "event_types", "podcast_ids", "enabled")
    return {name: getattr(endpoint, name) for name in names}
