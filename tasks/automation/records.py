"""The records that a batch of executions, jobs or events is about, read fresh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    Uuid,
    and_,
    bindparam,
    func,
    select,
    tuple_,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.arrays import array, values_of
from tasks.automation.keys import Ids
from tasks.bulk import is_postgres
from tasks.lookups import is_among_keys, packed
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
    #: What contexts of one podcast have in common, made once (``context_of``).
    sections: dict[Key, dict[str, Any]] = field(default_factory=dict)


def load_records(session: Session, rows: Sequence[About]) -> Records:
    """Read everything that the rows are about: one query per table and 500 rows.

    A single row costs one query.
    """
    if len(rows) == 1:
        return load_record(session, rows[0])
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


def _at(
    table: type[EntityOfCongregation],
    id_: ColumnElement[Any] | InstrumentedAttribute[Any],
) -> Any:  # noqa: ANN401  # the arguments of a join
    return table, and_(table.congregation_id == Congregation.id, table.id == id_)


#: The order matters: a booking names its link, its guest and its episode.
_EVERYTHING: Final = (
    select(Congregation, Podcast, Booking, BookingLink, EpisodeGuest, Episode)
    .select_from(Congregation)
    .outerjoin(*_at(Podcast, bindparam("podcast_id", type_=String)))
    .outerjoin(*_at(Booking, bindparam("booking_id", type_=String)))
    .outerjoin(*_at(BookingLink, Booking.booking_link_id))
    .outerjoin(
        *_at(
            EpisodeGuest,
            func.coalesce(bindparam("guest_id", type_=String), Booking.guest_id),
        )
    )
    .outerjoin(
        *_at(
            Episode,
            func.coalesce(
                bindparam("episode_id", type_=String),
                Booking.episode_id,
                EpisodeGuest.episode_id,
            ),
        )
    )
    .where(Congregation.id == bindparam("congregation_id", type_=Uuid))
    .execution_options(populate_existing=True)
)


def load_record(session: Session, row: About) -> Records:
    """Read everything that one row is about in one query."""
    names = ("congregation_id", "podcast_id", "episode_id", "booking_id", "guest_id")
    found = session.execute(
        _EVERYTHING, {name: getattr(row, name) for name in names}
    ).one_or_none()
    if found is None:
        return Records({}, {}, {}, {}, {}, {})
    congregation, podcast, booking, link, guest, episode = found
    return Records(
        congregations={congregation.id: congregation},
        podcasts=_alone(podcast),
        bookings=_alone(booking),
        links=_alone(link),
        episodes=_alone(episode),
        guests=_alone(guest),
    )


def _alone(row: Entity | None) -> dict[Key, Entity]:
    return {(row.congregation_id, row.id): row} if row is not None else {}


def by_key(
    session: Session, model: type[Entity], keys: Iterable[Key]
) -> dict[Key, Entity]:
    """Read records by congregation and id; what does not exist is left out."""
    found: dict[Key, Entity] = {}
    # By numbers: comparing UUIDs is Python.
    for chunk in chunks(sorted(keys, key=lambda key: (key[0].int, key[1]))):
        known: Any = model  # mypy does not take a type variable for hashable
        statement: Select[Entity] = _selecting(known, is_postgres(session))
        rows = session.scalars(statement, pairs_of(session, chunk))
        found.update({(row.congregation_id, row.id): row for row in rows})
    return found


@lru_cache
def _selecting(
    model: type[Any],
    takes_arrays: bool,  # a key of the cache
) -> Select[Any]:
    """Return the statement that reads records; making it anew would take longer."""
    is_meant = is_one_of(model, takes_arrays=takes_arrays)
    return select(model).where(is_meant).execution_options(populate_existing=True)


def is_one_of(
    model: type[EntityOfCongregation], *, takes_arrays: bool
) -> ColumnElement[bool]:
    """Return the condition that a record has one of the keys of ``pairs_of``."""
    columns = (model.congregation_id, model.id)
    if takes_arrays:
        arrays = (array("congregations", Uuid()), array("ids", String()))
        return tuple_(*columns).in_(select(*(func.unnest(each) for each in arrays)))
    return is_among_keys(columns, "pairs")


def pairs_of(session: Session, keys: Sequence[Key]) -> dict[str, Any]:
    """Return keys as parameters."""
    if not is_postgres(session):
        return {"pairs": packed((Booking.congregation_id, Booking.id), keys)}
    congregations, ids = zip(*keys, strict=True)
    return {"congregations": values_of(Uuid(), congregations), "ids": list(ids)}


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


_CONGREGATIONS: Final = (
    select(Congregation)
    .where(Congregation.id.in_(bindparam("ids", expanding=True)))
    .execution_options(populate_existing=True)
)


def _congregations(session: Session, ids: set[UUID]) -> dict[UUID, Congregation]:
    found: dict[UUID, Congregation] = {}
    for chunk in chunks(sorted(ids)):
        rows = session.scalars(_CONGREGATIONS, {"ids": chunk})
        found.update({row.id: row for row in rows})
    return found
