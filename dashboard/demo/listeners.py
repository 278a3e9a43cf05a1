"""The demo's webhook endpoints: one that thanks, and one that is gone for good."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.demo.parish import SACRISTAN
from tasks.models import Endpoint, Event
from tasks.secrets import SecretBox
from tasks.webhooks.endpoint_fields import EndpointChange
from tasks.webhooks.endpoints import add_endpoint
from tasks.webhooks.outbox import hand_over_again

#: So many of the last events are told to them as soon as a worker is there.
TOLD: Final = 40


def make_endpoints(
    session: Session, parish: UUID, box: SecretBox, port: int, now: datetime
) -> None:
    """Add those who hear of everything, and let them hear of what happened last."""
    for path, description, types in (
        ("website", "Parish website", None),
        ("old-calendar", "The former calendar", ["booking.confirmed"]),
    ):
        url = f"http://127.0.0.1:{port}/{path}"
        change = EndpointChange(url, description, types)
        add_endpoint(session, parish, change, SACRISTAN, box=box, now=now)
    last = session.scalars(
        select(Event.id)
        .where(Event.congregation_id == parish)
        .order_by(Event.created_at.desc(), Event.id.desc())
        .limit(TOLD)
    ).all()
    hand_over_again(session, parish, last[::-1], now, endpoint_id=None, again=False)


def point_endpoints_to(session: Session, port: int) -> None:
    """Let the endpoints be where the demo's receiver listens this time."""
    for endpoint in session.scalars(select(Endpoint)):
        if endpoint.url.startswith("http://127.0.0.1:"):
            path = endpoint.url.rpartition("/")[2]
            endpoint.url = f"http://127.0.0.1:{port}/{path}"
