"""A congregation whose bookings come from a service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import Booking, Source, SourceCall, SourceKind
from tasks.operations.audit import SYSTEM
from tasks.operations.sources import SourceChange, add_source
from tasks.secrets import SecretBox
from tasks.sources.receiving import Received, receive
from tests.support import booking_services as services
from tests.tasks.automation.conftest import NOW, World, make_world

BOX = SecretBox("a key for tests")


@pytest.fixture
def world(make_session: sessionmaker[Session]) -> World:
    """Return a congregation on both databases in turn."""
    return make_world(make_session, "bonifatius")


@dataclass
class Service:
    """A booking service that calls one source of the congregation."""

    world: World
    source: Source

    def call(
        self,
        message: dict[str, Any] | bytes,
        *,
        at: datetime = NOW,
        secret: str = services.SECRET,
        headers: dict[str, str] | None = None,
    ) -> Received:
        parts = (
            services.signed_by_cal(message, secret)
            if self.source.kind is SourceKind.CALCOM
            else services.signed_by_calendly(message, at, secret)
        )
        call = services.as_call((parts[0], headers or parts[1]), NOW)
        with self.world.make_session.begin() as session:
            source = session.get_one(Source, self.source.id)
            return receive(session, source, call, box=BOX)

    def said(self, *args: Any, **changes: Any) -> Received:
        """Call with a message that is made and signed as the service does it."""
        make = (
            services.cal_message
            if self.source.kind is SourceKind.CALCOM
            else services.calendly_message
        )
        return self.call(make(*args, **changes))

    @property
    def booking(self) -> Booking:
        [row] = self.world.all(Booking)
        return row

    @property
    def events(self) -> list[str]:
        return [event.type for event in self.world.events()]

    @property
    def calls(self) -> list[SourceCall]:
        with self.world.make_session() as session:
            order = (SourceCall.received_at, SourceCall.id)
            return list(session.scalars(select(SourceCall).order_by(*order)))


@pytest.fixture
def make_service(world: World) -> Callable[..., Service]:
    """Return a function that adds a source and gives the service that calls it."""

    def make(
        kind: SourceKind = SourceKind.CALCOM,
        podcast_id: str = "show",
        event_types: dict[str, str] | None = None,
        *,
        only_listed: bool = False,
    ) -> Service:
        with world.make_session.begin() as session:
            source, _ = add_source(
                session,
                world.id,
                podcast_id,
                kind,
                SourceChange("Bookings", event_types or {}, only_listed),
                SYSTEM,
                box=BOX,
                secret=services.SECRET,
            )
        return Service(world, source)

    return make


@pytest.fixture
def cal(make_service: Callable[..., Service]) -> Service:
    return make_service(SourceKind.CALCOM)


@pytest.fixture
def calendly(make_service: Callable[..., Service]) -> Service:
    return make_service(SourceKind.CALENDLY)
