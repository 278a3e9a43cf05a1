"""The congregation that every measurement works on, and no-op effects for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks import migrations
from tasks.automation.actions.base import Done, Effects, Envelope, Outcome
from tasks.automation.context import build_full_context
from tasks.automation.events import AutomationEvent
from tasks.automation.executions import NewExecution, insert_executions
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.lane import Bench
from tasks.models import Booking, BookingStatus, Congregation, Podcast, Rule
from tasks.models.base import new_id

#: Bookings that events and executions are about, in turn.
N_BOOKINGS = 500
_SETTINGS = {
    "recipient": "guest",
    "address": "",
    "subject": "Hello {{ guest.name }}",
    "text": "See you on {{ booking.start_time }}, {{ guest.name }}.",
    "html": "",
}


@dataclass(frozen=True, slots=True)
class World:
    """Where the rows of a measurement belong."""

    congregation_id: UUID
    rule_id: UUID | None = None  # None: only events are reported
    action: str = "email"


class Nothing:
    """A mailer and poster that answers at once."""

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Do nothing and say that it is done."""
        return Done(250)

    post = send


def make_world(engine: Engine, action: str = "email") -> World:
    """Make every table, one congregation with one rule, and its bookings."""
    migrations.upgrade(engine)
    with sessions(engine).begin() as session:
        return add_tenant(session, "bench", action)


def add_tenant(session: Session, slug: str, action: str = "email") -> World:
    """Add a congregation with one rule and its bookings.  Caller commits."""
    of = _congregation(session, slug)
    session.add_all(_booking(of, number) for number in range(N_BOOKINGS))
    session.flush()
    return World(of, add_rule(session, of, action), action)


def add_rule(
    session: Session,
    of: UUID,
    action: str,
    **values: Any,  # noqa: ANN401  # any column's
) -> UUID:
    """Add a rule and return its id.  Caller commits."""
    defaults = {"name": "Welcome", "trigger_type": "booking.confirmed"}
    rule = Rule(
        congregation_id=of, action=action, settings=_SETTINGS, **defaults | values
    )
    session.add(rule)
    session.flush()
    return rule.id


def _congregation(session: Session, slug: str) -> UUID:
    row = Congregation(slug=slug, name=slug.title())
    session.add(row)
    session.flush()
    session.add(Podcast(congregation_id=row.id, id="show", title="Show", slug="show"))
    session.flush()
    return row.id


def _booking(congregation_id: UUID, number: int) -> Booking:
    return Booking(
        congregation_id=congregation_id,
        id=f"b{number}",
        podcast_id="show",
        guest_name=f"Guest {number}",
        guest_email=f"guest{number}@example.org",
        start_time=utcnow() + timedelta(days=2),
        timezone="Europe/Berlin",
        status=BookingStatus.CONFIRMED,
        confirmed_at=utcnow(),
    )


def event(world: World, number: int) -> AutomationEvent:
    """Return the event of one booking's confirmation, with an id of its own."""
    return AutomationEvent(
        "booking.confirmed",
        "show",
        booking_id=f"b{number % N_BOOKINGS}",
        event_id=new_id().hex,
        congregation_id=world.congregation_id,
    )


def add_pending(
    session: Session, world: World, numbers: Sequence[int], now: datetime
) -> None:
    """Insert one due execution for each number.  Caller commits."""
    context = build_full_context(
        session, world.congregation_id, "show", booking_id="b0"
    )
    insert_executions(
        session,
        [
            NewExecution(
                id=new_id(),
                congregation_id=world.congregation_id,
                rule_id=_rule_of(world),
                rule_version=1,
                trigger_type="booking.confirmed",
                action=world.action,
                idempotency_key=new_id().hex,
                podcast_id="show",
                booking_id=f"b{number % N_BOOKINGS}",
                recipient=_recipient(world, number),
                due_at=now,
                max_attempts=5,
                context=context,
            )
            for number in numbers
        ],
    )


def _recipient(world: World, number: int) -> str | None:
    """Return whom it goes to, as the event that leads to it would find."""
    if world.action != "email":
        return None
    return f"guest{number % N_BOOKINGS}@example.org"


def _rule_of(world: World) -> UUID:
    assert world.rule_id is not None  # noqa: S101  # narrows the type
    return world.rule_id


def make_bench(engine: Engine) -> Bench:
    """Return what a sweep works with, whose effects do nothing."""
    nothing = Nothing()
    return Bench(
        begin=sessions(engine).begin,
        clock=utcnow,
        effects=Effects(nothing, nothing),
        worker="bench",
    )
