"""One endpoint by its id, to look at or to change."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.errors import NotFound
from tasks.models.endpoint import Endpoint
from tasks.saying import say


def get_endpoint(session: Session, endpoint_id: UUID) -> Endpoint:
    """Return an endpoint.

    Raises:
        NotFound: the session sees no such endpoint, or it was removed.
    """
    return _found(session.get(Endpoint, endpoint_id))


def lock(session: Session, endpoint_id: UUID) -> Endpoint:
    """Return an endpoint that nobody else changes until the transaction ends.

    Raises:
        NotFound: the session sees no such endpoint, or it was removed.
    """
    statement = (
        select(Endpoint)
        .where(Endpoint.id == endpoint_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return _found(session.scalars(statement).one_or_none())


def _found(endpoint: Endpoint | None) -> Endpoint:
    if endpoint is None or endpoint.deleted_at is not None:
        raise NotFound("unknown_endpoint", say("There is no such endpoint."))
    return endpoint
