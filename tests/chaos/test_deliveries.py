"""F01 for webhook endpoints: a worker is killed while it delivers; nobody misses."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from standardwebhooks import Webhook

from tasks.automation import AutomationEvent, emit_events
from tasks.clock import utcnow
from tasks.models import Delivery, DeliveryState, Event, OutboxEntry, Rule
from tasks.operations.audit import SYSTEM
from tasks.secrets import SecretBox
from tasks.webhooks.endpoint_fields import EndpointChange
from tasks.webhooks.endpoints import add_endpoint
from tasks.webhooks.room import IN_FLIGHT_MAX
from tests.chaos.harness import CALM, Installation
from tests.chaos.tiers import IS_SHORT, TIER
from tests.support.hook_sink import Hook, Reply
from tests.support.processes import until

PATH = "/endpoint"
N_EVENTS = 60 if IS_SHORT else 1_000


@pytest.mark.timeout(TIER.timeout)
def test_a_worker_that_is_killed_while_it_delivers_repeats_few_and_loses_none(
    system: Installation,
) -> None:
    secret = _listen(system)
    system.hooks.answer(PATH, Reply(delay=0.05))
    _report(system, N_EVENTS)
    (victim,) = system.start(**CALM)
    until(lambda: len(_heard(system)) >= IN_FLIGHT_MAX, 60, 0.01)
    system.kill(victim)
    assert _n_in(system, DeliveryState.RUNNING) <= IN_FLIGHT_MAX
    _let_leases_lapse(system)
    system.start(**CALM)
    until(lambda: _n_in(system, DeliveryState.DELIVERED) == N_EVENTS, TIER.timeout, 0.1)
    system.drain()

    heard = _heard(system)
    with system.begin() as session:
        ids = {str(id_) for id_ in session.scalars(select(Event.id))}
        assert session.scalar(select(func.count()).select_from(OutboxEntry)) == 0
    times = Counter(hook.headers["webhook-id"] for hook in heard)
    assert set(times) == ids
    assert len(heard) - N_EVENTS <= IN_FLIGHT_MAX
    bodies: defaultdict[str, set[bytes]] = defaultdict(set)
    for hook in heard:
        bodies[hook.headers["webhook-id"]].add(hook.body)
        Webhook(secret).verify(hook.body, hook.headers)
    assert {len(each) for each in bodies.values()} == {1}


def _listen(system: Installation) -> str:
    """Add an endpoint, let no rule act, and return the endpoint's secret."""
    box = SecretBox(system.environ["SECRET_KEY"])
    change = EndpointChange("https://example.org/hook")
    with system.begin() as session:
        session.execute(update(Rule).values(enabled=False))
        made, secret = add_endpoint(
            session, system.tenant, change, SYSTEM, box=box, now=utcnow()
        )
        made.url = system.hooks.url(PATH)  # no form takes a private address
    return secret


def _report(system: Installation, n: int) -> None:
    events = [
        AutomationEvent(
            "booking.confirmed",
            "show",
            booking_id="b1",
            event_id=f"e{number}",
            congregation_id=system.tenant,
        )
        for number in range(n)
    ]
    with system.begin() as session:
        assert all(done.success for done in emit_events(session, events))


def _let_leases_lapse(system: Installation) -> None:
    """Turn the clock of what the dead worker held: a lease lasts a minute."""
    past = utcnow() - timedelta(seconds=1)
    with system.begin() as session:
        session.execute(
            update(Delivery)
            .where(Delivery.state == DeliveryState.RUNNING)
            .values(lease_until=past)
        )


def _heard(system: Installation) -> list[Hook]:
    return [hook for hook in system.hooks.requests if hook.path == PATH]


def _n_in(system: Installation, state: DeliveryState) -> int:
    with system.begin() as session:
        counted = select(func.count()).where(Delivery.state == state)
        return session.scalar(counted) or 0
