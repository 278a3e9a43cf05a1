"""What the pages of webhooks read: few queries, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from dashboard.webhooks.health import Health, healths
from tasks.errors import NotFound
from tasks.models import (
    AdminMail,
    Congregation,
    Delivery,
    Endpoint,
)
from tasks.saying import say

#: Newest first.
KEYS: Final[tuple[Key, ...]] = (Endpoint.created_at.desc(), Endpoint.id.desc())
#: Deliveries that an endpoint's page shows.
RECENT: Final = 20
#: Mails about it that it shows.
MAILS_MAX: Final = 5
#: Endpoints that a filter offers at most.
CHOICES_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint as a list shows it."""

    endpoint: Endpoint
    congregation: str
    slug: str
    health: Health

    @property
    def state(self) -> str:
        """How it stands, as its pill says."""
        if not self.endpoint.enabled:
            return "disabled"
        return "failing" if self.endpoint.failing_since else "enabled"


def selected(wanted: Sequence[ColumnElement[bool]]) -> Select[Endpoint, str, str]:
    """Select endpoints with their congregation's name and short name."""
    return (
        select(Endpoint, Congregation.name, Congregation.slug)
        .join(Congregation, Congregation.id == Endpoint.congregation_id)
        .where(Endpoint.deleted_at.is_(None), *wanted)
    )


def endpoints(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    now: datetime,
    cursor: str | None,
    limit: int,
) -> Page[EndpointRow]:
    """Return a page of the endpoints, newest first."""
    page = paginate(session, selected(wanted), KEYS, cursor, limit)
    found = healths(session, [row[0].id for row in page.rows], now)
    rows = [
        EndpointRow(endpoint, name, slug, found[endpoint.id])
        for endpoint, name, slug in page.rows
    ]
    return Page(rows, page.next_cursor, page.previous_cursor)


def mails(session: Session, endpoint: Endpoint) -> Sequence[AdminMail]:
    """Return the last mails to admins that told of an endpoint, newest first."""
    statement = (
        select(AdminMail)
        .where(
            AdminMail.congregation_id == endpoint.congregation_id,
            AdminMail.path == f"/webhooks/{endpoint.id}",
        )
        .order_by(AdminMail.created_at.desc(), AdminMail.id.desc())
        .limit(MAILS_MAX)
    )
    return session.scalars(statement).all()


def endpoint(session: Session, endpoint_id: UUID, now: datetime) -> EndpointRow:
    """Return one endpoint.

    Raises:
        NotFound: the session sees no such endpoint, or it was removed.
    """
    found = session.execute(
        select(Endpoint, Congregation.name, Congregation.slug)
        .join(Congregation, Congregation.id == Endpoint.congregation_id)
        .where(Endpoint.id == endpoint_id, Endpoint.deleted_at.is_(None))
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_endpoint", say("There is no such endpoint."))
    health = healths(session, [endpoint_id], now)[endpoint_id]
    return EndpointRow(found[0], found[1], found[2], health)


def recent(session: Session, endpoint_id: UUID) -> Sequence[Delivery]:
    """Return an endpoint's newest deliveries."""
    statement = select(Delivery).where(Delivery.endpoint_id == endpoint_id)
    return session.scalars(statement.order_by(Delivery.id.desc()).limit(RECENT)).all()


def choices(session: Session) -> Sequence[tuple[UUID, str]]:
    """Return the endpoints that the list may be filtered by: id and name."""
    rows = session.execute(
        select(Endpoint.id, Endpoint.description, Endpoint.url)
        .where(Endpoint.deleted_at.is_(None))
        .order_by(Endpoint.description, Endpoint.url, Endpoint.id)
        .limit(CHOICES_MAX)
    )
    return [(id_, description or url[:80]) for id_, description, url in rows]
