"""A congregation that has one record of each kind, and its callers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy.orm import Session, sessionmaker

from tasks.clock import utcnow
from tasks.models import (
    Booking,
    BookingLink,
    Congregation,
    Episode,
    EpisodeGuest,
    Podcast,
    Rule,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.tokens import SCOPES, create_token
from tests.dashboard.api.caller import Api

#: When the world's booking begins: far enough for reminders.
START = utcnow().replace(microsecond=0) + timedelta(days=10)


def new_producer(
    app: Flask,
    make_db: sessionmaker[Session],
    congregation_id: UUID,
    *scopes: str,
    expires_at: datetime | None = None,
    now: datetime | None = None,
) -> Api:
    """Make a token of a congregation, and its caller."""
    with make_db.begin() as session:
        _, plaintext = create_token(
            session,
            congregation_id,
            "Website",
            scopes or tuple(SCOPES),
            expires_at,
            SYSTEM,
            now=now,
        )
    return Api(app, plaintext, congregation_id)


def settle(session: Session, slug: str) -> UUID:
    """Add a congregation with one record of each kind; returns its id."""
    congregation = Congregation(slug=slug, name="St Mary", timezone="Europe/Paris")
    session.add(congregation)
    session.flush()
    of = congregation.id
    session.add(Podcast(congregation_id=of, id="p", title=f"Bells of {slug}"))
    session.flush()
    common = {"congregation_id": of, "podcast_id": "p"}
    session.add_all(
        [
            BookingLink(**common, id="l", name="Interview"),
            Episode(**common, id="e", title=f"Episode of {slug}"),
            EpisodeGuest(
                **common, id="g", name="Ann", email="ann@example.org", access_token="s3"
            ),
            Booking(
                **common,
                id="b",
                booking_link_id="l",
                guest_name=f"Guest of {slug}",
                guest_email=f"guest@{slug}.example.org",
                start_time=START,
            ),
            _rule(of, "booking.confirmed"),
            _rule(of, "time.before_recording", offset_value=24),
        ]
    )
    return of


def _rule(of: UUID, trigger_type: str, **values: Any) -> Rule:
    settings = {
        "recipient": "guest",
        "subject": "Your booking",
        "text": "See you soon.",
        "html": "",
    }
    return Rule(
        congregation_id=of,
        name=trigger_type,
        trigger_type=trigger_type,
        action="email",
        settings=settings,
        **values,
    )
