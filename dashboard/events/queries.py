"""What the events' pages read: few queries, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, and_, case, func, select
from sqlalchemy.orm import Session

from dashboard.amounts import amounts
from dashboard.paging import Page, paginate
from dashboard.tallies import AtLeast
from tasks.errors import NotFound
from tasks.models import (
    Booking,
    Congregation,
    Decision,
    DecisionOutcome,
    Episode,
    EpisodeGuest,
    Event,
    EventData,
    OperationKind,
    Podcast,
)
from tasks.models.base import Json
from tasks.operations.event_matching import EventMatching, events_that_match
from tasks.operations.kinds import Asked as AllThatMatch
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as a list shows it, with the names of what it is about."""

    event: Event
    congregation: str
    slug: str  # of the congregation
    podcast: str | None
    booking_guest: str | None
    episode: str | None
    guest: str | None

    @property
    def subject(self) -> str:
        """Who or what it is about, in the best words there are."""
        event = self.event
        named = self.booking_guest or self.guest or self.episode or self.podcast
        ids = (event.booking_id, event.guest_id, event.episode_id, event.podcast_id)
        return named or next(filter(None, ids), "")


@dataclass(frozen=True, slots=True)
class Asked:
    """How many rules an event was put to, and how many fired."""

    n_rules: int = 0
    n_fired: int = 0


def events(
    session: Session, wanted: EventMatching, cursor: str | None, limit: int
) -> Page[EventRow]:
    """Return a page of the events, newest first."""
    statement = listed(session, wanted)
    columns = (Event.created_at.desc(), Event.id.desc())
    page = paginate(session, statement, columns, cursor, limit)
    rows = [EventRow(*row) for row in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def listed(
    session: Session, wanted: EventMatching
) -> Select[Event, str, str, str | None, str | None, str | None, str | None]:
    """Select the events in the order of ``EventRow``'s fields."""
    return _with_names().where(*events_that_match(session, wanted))


def n_replayed(
    session: Session, wanted: EventMatching, page: Page[EventRow], now: datetime
) -> int:
    """Return how many events a replay of all that match means, of which one is a page.

    As many as it has there are at least.
    """
    if page.is_whole:
        return len(page.rows)
    all_ = AllThatMatch(OperationKind.REPLAY_EVENTS, wanted.as_json(), now)
    # Without the id, so that the index of a booking's events serves as well.
    newest = (Event.created_at.desc(),)
    [n] = amounts(session, [all_], newest, [*wanted.bounds()])
    return max(n, AtLeast(len(page.rows)))


def event(session: Session, event_id: UUID) -> EventRow:
    """Return one event.

    Raises:
        NotFound: the session sees no such event.
    """
    found = session.execute(_with_names().where(Event.id == event_id)).one_or_none()
    if found is None:
        raise NotFound("unknown_event", say("There is no such event."))
    return EventRow(*found)


def data(session: Session, event_id: UUID) -> Json:
    """Return what else the producer told; empty when it told nothing."""
    found = session.get(EventData, event_id)
    return found.data if found else {}


def asked(session: Session, ids: Sequence[UUID]) -> Mapping[UUID, Asked]:
    """Return what rules made of each event; none was asked: no key."""
    fired = Decision.outcome == DecisionOutcome.FIRED
    rows = session.execute(
        # A rule that looked at it again, at a replay, is one rule all the same.
        select(
            Decision.event_id,
            func.count(Decision.rule_id.distinct()),
            func.sum(case((fired, 1), else_=0)),
        )
        .where(Decision.event_id.in_(ids))
        .group_by(Decision.event_id)
    )
    return {event_id: Asked(*numbers) for event_id, *numbers in rows if event_id}


def _with_names() -> Select[
    Event, str, str, str | None, str | None, str | None, str | None
]:
    owner = Event.congregation_id
    of = (Podcast.title, Booking.guest_name, Episode.title, EpisodeGuest.name)
    return (
        select(Event, Congregation.name, Congregation.slug, *of)
        .join(Congregation, Congregation.id == owner)
        .outerjoin(
            Podcast,
            and_(Podcast.congregation_id == owner, Podcast.id == Event.podcast_id),
        )
        .outerjoin(
            Booking,
            and_(Booking.congregation_id == owner, Booking.id == Event.booking_id),
        )
        .outerjoin(
            Episode,
            and_(Episode.congregation_id == owner, Episode.id == Event.episode_id),
        )
        .outerjoin(
            EpisodeGuest,
            and_(
                EpisodeGuest.congregation_id == owner,
                EpisodeGuest.id == Event.guest_id,
            ),
        )
    )
