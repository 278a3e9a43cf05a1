"""The records that a batch of executions, jobs or events is about, read fresh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.keys import Ids
from tasks.bulk import among, among_pairs
from tasks.models.base import EntityOfCongregation
from tasks.models.booking import Booking
from tasks.models.congregation import Congregation
from tasks.models.episode import Episode, EpisodeGuest
from tasks.models.podcast import BookingLink, Podcast

#: Records in one statement; below the limits of both databases.
CHUNK: Final = 500

Entity = TypeVar("Entity", bound=EntityOfCongregation)
Item = TypeVar("Item")
#: A record: its congregation and its producer's id.
Key = tuple[UUID, str]


class About(Protocol):
    """Anything that says which records it is about: an execution, a job, an event."""

    @property
    def congregation_id(self) -> UUID:
        """The tenant of all the records."""

    @property
    def podcast_id(self) -> str | None:
        """The podcast; None: it is about none."""

    @property
    def episode_id(self) -> str | None:
        """The episode; None: it is about none."""

    @property
    def booking_id(self) -> str | None:
        """The booking; None: it is about none."""

    @property
    def guest_id(self) -> str | None:
        """The guest; None: it is about none."""


@dataclass(frozen=True, slots=True)
class Records:
    """The records that a batch is about, by congregation and id."""

    congregations: Mapping[UUID, Congregation]
    podcasts: Mapping[Key, Podcast]
    bookings: Mapping[Key, Booking]
    links: Mapping[Key, BookingLink]
    episodes: Mapping[Key, Episode]
    guests: Mapping[Key, EpisodeGuest]


def load_records(session: Session, rows: Sequence[About]) -> Records:
    """Read everything that the rows are about: one query per table and 500 rows."""
    bookings = by_key(session, Booking, _keys(rows, "booking_id"))
    guests = by_key(
        session,
        EpisodeGuest,
        _keys(rows, "guest_id") | _keys(bookings.values(), "guest_id"),
    )
    named: list[Any] = [*rows, *bookings.values(), *guests.values()]
    return Records(
        congregations=_congregations(session, {row.congregation_id for row in rows}),
        podcasts=by_key(session, Podcast, _keys(rows, "podcast_id")),
        bookings=bookings,
        links=by_key(session, BookingLink, _keys(bookings.values(), "booking_link_id")),
        episodes=by_key(session, Episode, _keys(named, "episode_id")),
        guests=guests,
    )


def by_key(
    session: Session, model: type[Entity], keys: Iterable[Key]
) -> dict[Key, Entity]:
    """Read records by congregation and id; what does not exist is left out."""
    found: dict[Key, Entity] = {}
    for chunk in chunks(sorted(keys)):
        rows = session.scalars(
            select(model)
            .where(among_pairs(session, (model.congregation_id, model.id), chunk))
            .execution_options(populate_existing=True)
        )
        found.update({(row.congregation_id, row.id): row for row in rows})
    return found


def full_ids(row: About, records: Records) -> Ids:
    """Return the row's ids, completed with what its booking and guest name."""
    booking = records.bookings.get((row.congregation_id, row.booking_id or ""))
    guest_id = row.guest_id or (booking.guest_id if booking else None)
    guest = records.guests.get((row.congregation_id, guest_id or ""))
    told = row.episode_id or (booking.episode_id if booking else None)
    return Ids(
        podcast_id=row.podcast_id,
        episode_id=told or (guest.episode_id if guest else None),
        booking_id=row.booking_id,
        guest_id=guest_id,
    )


def chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Cut a sequence into pieces that fit into one statement."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def _keys(rows: Iterable[Any], column: str) -> set[Key]:
    return {
        (row.congregation_id, value) for row in rows if (value := getattr(row, column))
    }


def _congregations(session: Session, ids: set[UUID]) -> dict[UUID, Congregation]:
    found: dict[UUID, Congregation] = {}
    for chunk in chunks(sorted(ids)):
        rows = session.scalars(
            select(Congregation).where(among(session, Congregation.id, chunk))
        )
        found.update({row.id: row for row in rows})
    return found
