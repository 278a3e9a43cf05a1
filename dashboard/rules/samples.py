"""Real bookings, episodes and guests on which a rule can be tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dashboard.rules.scope import RuleScope
from dashboard.zones import here, zone_sign
from tasks.automation.context import build_full_context
from tasks.automation.entities import status_word
from tasks.automation.triggers import Trigger
from tasks.clock import utcnow
from tasks.models import Booking, Episode, EpisodeGuest
from tasks.saying import say
from tasks.saying.formats import dated
from tasks.templating.samples import sample_values

#: The select offers this many, newest first.
SAMPLES_MAX: Final = 30
#: What is tried when nothing real is chosen.
INVENTED: Final = ""

T = TypeVar("T", Booking, Episode, EpisodeGuest)
Record = Booking | Episode | EpisodeGuest


@dataclass(frozen=True, slots=True)
class Sample:
    """One record to try a rule on."""

    id: str
    label: str


def samples(session: Session, scope: RuleScope, trigger: Trigger) -> list[Sample]:
    """Return what the trigger could be about, newest first."""
    return [Sample(row.id, _label(row)) for row in _newest(session, scope, trigger)]


def context_for(
    session: Session, scope: RuleScope, trigger: Trigger, sample_id: str
) -> dict[str, Any]:
    """Return a context to compose with: the record's, or an invented one.

    A record that the session does not see counts as none.
    """
    event = {"type": trigger.name, "occurred_at": utcnow().isoformat()}
    key = (scope.congregation_id, sample_id)
    row = _find(session, trigger, key) if sample_id != INVENTED else None
    if row is None:
        return {**sample_values(trigger.variables), "event": event}
    context = build_full_context(
        session,
        row.congregation_id,
        row.podcast_id,
        row.id if isinstance(row, Episode) else row.episode_id,
        row.id if isinstance(row, Booking) else None,
        _guest_of(row),
    )
    return {**context, "event": event}


def _newest(session: Session, scope: RuleScope, trigger: Trigger) -> Sequence[Record]:
    if trigger.subject == "booking":
        bookings = select(Booking).order_by(Booking.start_time.desc(), Booking.id)
        return session.scalars(_within(bookings, Booking, scope)).all()
    if trigger.subject == "episode":
        episodes = select(Episode).order_by(Episode.created_at.desc(), Episode.id)
        return session.scalars(_within(episodes, Episode, scope)).all()
    if trigger.is_own:
        return []  # its values come with the event alone
    guests = select(EpisodeGuest).order_by(
        EpisodeGuest.created_at.desc(), EpisodeGuest.id
    )
    return session.scalars(_within(guests, EpisodeGuest, scope)).all()


def _within(statement: Select[T], model: type[T], scope: RuleScope) -> Select[T]:
    kept = statement.where(model.congregation_id == scope.congregation_id)
    if scope.podcast_ids is not None:
        kept = kept.where(model.podcast_id.in_(scope.podcast_ids))
    return kept.limit(SAMPLES_MAX)


def _find(session: Session, trigger: Trigger, key: tuple[UUID, str]) -> Record | None:
    if not key[1].isprintable():  # PostgreSQL refuses NUL even in a question
        return None
    if trigger.subject == "booking":
        return session.get(Booking, key)
    if trigger.subject == "episode":
        return session.get(Episode, key)
    return session.get(EpisodeGuest, key) if trigger.subject == "guest" else None


def _guest_of(row: Record) -> str | None:
    if isinstance(row, EpisodeGuest):
        return row.id
    return row.guest_id if isinstance(row, Booking) else None


def _label(row: Record) -> str:
    if isinstance(row, Booking):
        day = dated(here(row.start_time), "d MMM y, HH:mm")
        who = row.guest_name or row.guest_email or row.id
        return f"{who}, {day} {zone_sign(row.start_time)} ({status_word(row.status)})"
    if isinstance(row, Episode):
        number = f"{row.episode_number}. " if row.episode_number else ""
        return f"{number}{row.title} ({status_word(row.status)})"
    return f"{row.name}, {row.email or say('no address')}"
