"""New secrets for endpoints, and one day in which both the new and the former sign."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models.endpoint import Endpoint
from tasks.operations.audit import Actor
from tasks.secrets import SecretBox, new_webhook_secret
from tasks.webhooks.finding import lock
from tasks.webhooks.switching import tell

#: After a new secret was made, the former one signs as well for so long.
ROTATION: Final = timedelta(hours=24)
_HINT: Final = 4  # characters of a secret that lists show


def hint_of(secret: str) -> str:
    """Return what lists may show of a secret."""
    return secret[-_HINT:]


def rotate_secret(
    session: Session,
    endpoint_id: UUID,
    actor: Actor,
    *,
    box: SecretBox,
    now: datetime,
    keep_former: bool = True,
) -> tuple[Endpoint, str]:
    """Give an endpoint a new secret and return it, which is not shown again.

    Args:
        keep_former: Sign with the former one as well for ``ROTATION``, so that the
            receiver can change over; never after it leaked.

    Raises:
        NotFound: there is none.
    """
    endpoint = lock(session, endpoint_id)
    secret = new_webhook_secret()
    endpoint.former_secret = endpoint.secret if keep_former else None
    endpoint.former_until = now + ROTATION if keep_former else None
    endpoint.secret = box.seal(secret)
    endpoint.secret_hint = hint_of(secret)
    endpoint.updated_at = now
    session.flush()
    summary = "Made a new secret; the former one signs for another day"
    if not keep_former:
        summary = "Made a new secret; the former one is worth nothing any more"
    tell(session, endpoint, actor, "endpoint.secret_rotated", summary)
    return endpoint, secret
