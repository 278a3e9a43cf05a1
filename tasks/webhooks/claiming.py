"""Taking due deliveries: fairly between endpoints, and few at once to each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Letter
from tasks.bulk import among
from tasks.executing.hosts import host_of
from tasks.holds.looking import closed
from tasks.lane import Bench
from tasks.models.delivery import Delivery, WebhookMessage
from tasks.models.endpoint import Endpoint
from tasks.models.hold import Channel
from tasks.webhooks.room import IS_PENDING, room

#: Longer than the whole of one attempt, which ends within twenty seconds.
LEASE: Final = timedelta(seconds=60)
#: Hosts that hang may have taken all that one look finds; then it looks again.
_ROUNDS: Final = 4


class Held(NamedTuple):
    """One attempt at one delivery; ``attempt`` is the fence."""

    delivery_id: UUID
    attempt: int
    endpoint_id: UUID
    letter: Letter


def claim(session: Session, bench: Bench, *, limit: int) -> list[Held]:
    """Lease up to ``limit`` due deliveries and begin an attempt of each.

    The attempt counts as begun from here on: what is claimed is posted at once.  What
    would go to a host that hangs waits for its turn, without an attempt.
    Caller commits.
    """
    now = bench.clock()
    for _ in range(_ROUNDS):
        chosen = _chosen(session, now, limit)
        ids, held_back = _within_hosts(session, bench, chosen, now)
        if ids or not held_back:
            return _leased(session, bench, ids, now)
    return []


def _chosen(session: Session, now: datetime, limit: int) -> list[tuple[UUID, Endpoint]]:
    held = closed(session, Channel.DELIVERIES, now)
    free = [] if held.everything else room(session, now, held, limit)
    if not free:
        return []
    share = max(1, limit // len(free))
    found: list[tuple[UUID, Endpoint]] = []
    for endpoint, n_free in free:
        n_wanted = min(n_free, share, limit - len(found))
        due = _due(session, endpoint.id, now, n_wanted)
        found += [(id_, endpoint) for id_ in due]
        if len(found) == limit:
            break
    return found


def _within_hosts(
    session: Session,
    bench: Bench,
    chosen: Sequence[tuple[UUID, Endpoint]],
    now: datetime,
) -> tuple[dict[UUID, Endpoint], int]:
    """Return what may begin, and how many wait for a host that hangs.

    Several endpoints may have one host, and rules call hosts as well.
    """
    waits = bench.hosts.waits([host_of_url(to.url) for _, to in chosen])
    going: dict[UUID, Endpoint] = {}
    for (id_, endpoint), wait in zip(chosen, waits, strict=True):
        if wait is None:
            going[id_] = endpoint
            continue
        session.execute(
            update(Delivery)
            .where(Delivery.id == id_, IS_PENDING)
            .values(run_at=now + wait)
            .execution_options(synchronize_session=False)
        )
    return going, len(chosen) - len(going)


def host_of_url(url: str) -> str:
    """Return the name by which a process knows where an address leads."""
    return host_of("webhook", {"url": url})


def _due(
    session: Session, endpoint_id: UUID, now: datetime, limit: int
) -> Sequence[UUID]:
    return session.scalars(
        select(Delivery.id)
        .where(Delivery.endpoint_id == endpoint_id, IS_PENDING, Delivery.run_at <= now)
        .order_by(Delivery.run_at, Delivery.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()


def _leased(
    session: Session,
    bench: Bench,
    going: Mapping[UUID, Endpoint],
    now: datetime,
) -> list[Held]:
    if not going:
        return []
    endpoints = {endpoint.id: endpoint for endpoint in going.values()}
    rows = session.execute(
        update(Delivery)
        .where(among(session, Delivery.id, list(going)), IS_PENDING)
        .values(
            state="running",
            attempt=Delivery.attempt + 1,
            worker=bench.worker,
            lease_until=now + LEASE,
            claimed_at=now,
        )
        .returning(
            Delivery.id, Delivery.attempt, Delivery.endpoint_id, Delivery.message_id
        )
        .execution_options(synchronize_session=False)
    ).all()
    messages = [message_id for *_, message_id in rows]
    found = session.scalars(
        select(WebhookMessage).where(among(session, WebhookMessage.id, messages))
    )
    bodies = {message.id: message.body for message in found}
    return [
        Held(id_, attempt, to, _letter(endpoints[to], message, bodies[message], now))
        for id_, attempt, to, message in rows
    ]


def _letter(endpoint: Endpoint, id_: UUID, body: str, now: datetime) -> Letter:
    return Letter(endpoint.url, id_, body, secrets_of(endpoint, now))


def secrets_of(endpoint: Endpoint, now: datetime) -> tuple[str, ...]:
    """Return the sealed secrets that sign now, the newest first."""
    former, until = endpoint.former_secret, endpoint.former_until
    if former is None or until is None or until <= now:
        return (endpoint.secret,)
    return (endpoint.secret, former)
