"""A congregation, an endpoint at a real server, and the lanes that serve it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation import emit_booking_event
from tasks.lane import Bench
from tasks.lanes import deliveries, fanout
from tasks.models import Delivery, DeliveryAttempt, Endpoint
from tasks.operations.audit import Actor
from tasks.outbound.guard import UrlRules
from tasks.outbound.web import WebPoster
from tasks.secrets import SecretBox
from tasks.webhooks.endpoint_fields import EndpointChange
from tasks.webhooks.endpoints import add_endpoint
from tests.support.fakes import FakePost, bench
from tests.support.hook_sink import HookSink
from tests.tasks.automation.conftest import NOW, World, make_world

BOX = SecretBox("a key for tests")
ACTOR = Actor("ines@example.org")
RULES = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)


@dataclass
class Desk:
    """What happens, who hears of it, and a clock that moves when it is told to."""

    world: World
    sink: HookSink
    now: datetime = NOW
    secret: str = ""
    total_seconds: float = 5.0

    @property
    def begin(self) -> Any:
        return self.world.make_session.begin

    def endpoint(self, path: str = "/hook", **values: Any) -> Endpoint:
        """Add an endpoint at the sink; its secret is kept in ``secret``."""
        change = EndpointChange("https://example.org/hook", **values)
        with self.begin() as session:
            made, self.secret = add_endpoint(
                session, self.world.id, change, ACTOR, box=BOX, now=self.now
            )
            made.url = self.sink.url(path)  # no form takes a private address
        return made

    def happen(self, booking_id: str = "b1", event: str = "booking.confirmed") -> None:
        with self.begin() as session:
            done = emit_booking_event(
                session,
                event,
                booking_id,
                "show",
                congregation_id=self.world.id,
                now=self.now,
            )
            assert done.success, done.error

    def bench(self, **changes: Any) -> Bench:
        made = bench(self.world.make_session, lambda: self.now, FakePost())
        courier = WebPoster(
            BOX, RULES, clock=lambda: self.now, total_seconds=self.total_seconds
        )
        return replace(made, effects=replace(made.effects, courier=courier), **changes)

    def fan_out(self) -> fanout.FanoutSweep:
        return fanout.sweep(self.bench(), 100)

    def deliver(self) -> deliveries.DeliveriesSweep:
        return deliveries.sweep(self.bench(), 100)

    def work(self) -> deliveries.DeliveriesSweep:
        self.fan_out()
        return self.deliver()

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)

    def deliveries(self) -> list[Delivery]:
        return sorted(self.world.all(Delivery), key=lambda row: row.id)

    def only(self) -> Delivery:
        (row,) = self.deliveries()
        return row

    def attempts(self) -> list[DeliveryAttempt]:
        with self.world.make_session() as session:
            order = (DeliveryAttempt.delivery_id, DeliveryAttempt.number)
            return list(session.scalars(select(DeliveryAttempt).order_by(*order)))

    def fresh(self, endpoint: Endpoint) -> Endpoint:
        with self.world.make_session() as session:
            return session.get_one(Endpoint, endpoint.id)


@pytest.fixture
def desk(make_session: sessionmaker[Session], hook_sink: HookSink) -> Desk:
    """Return a desk with a confirmed booking, on both databases in turn."""
    world = make_world(make_session, "bonifatius")
    world.booking()
    return Desk(world, hook_sink)
