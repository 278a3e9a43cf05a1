"""What messages are made from: fresh records, as one plain JSON object.

Sections: ``congregation``, ``podcast``, ``booking``, ``booking_link``, ``episode``,
``guest``; one that concerns nothing is left out.  Instants are ISO strings in the
local time of the booking or episode, with its offset (``2026-03-12T14:00:00+01:00``):
they read as the guest's clock does, and are exact instants for machines.  A
guest's ``access_token`` is never part of it (``guest_tokens`` has the one way out).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from tasks.automation import sections
from tasks.automation.records import About, Records, chunks, full_ids, load_records
from tasks.models.base import Json
from tasks.models.congregation import Congregation
from tasks.models.event import Event, EventData
from tasks.models.execution import ExecutionContext
from tasks.models.podcast import Podcast
from tasks.models.scheduled_job import JobContext, ScheduledJob

#: Sections that a producer's own context cannot change: they are not its to tell.
_NOT_FROM_PRODUCERS: Final = frozenset({"congregation"})


class Told(About, Protocol):
    """A row that has a context: an execution, a scheduled job or an event."""

    @property
    def id(self) -> UUID:
        """Its id."""


@dataclass(frozen=True, slots=True)
class Case:
    """The records of one context, named one by one."""

    congregation_id: UUID
    podcast_id: str | None
    episode_id: str | None = None
    booking_id: str | None = None
    guest_id: str | None = None


def context_of(row: About, records: Records, extra: Json | None = None) -> Json:
    """Return one row's context; ``extra`` is laid over it, section by section."""
    ids, of = full_ids(row, records), row.congregation_id
    congregation = records.congregations.get(of)
    podcast = records.podcasts.get((of, ids.podcast_id or ""))
    booking = records.bookings.get((of, ids.booking_id or ""))
    link = records.links.get((of, (booking and booking.booking_link_id) or ""))
    episode = records.episodes.get((of, ids.episode_id or ""))
    guest = records.guests.get((of, ids.guest_id or ""))
    zones = (_zone(podcast), _zone(congregation))
    context: Json = {
        **_shared(congregation, podcast, zones, records.sections),
        "booking": booking and sections.of_booking(booking, *zones),
        "booking_link": link and {"id": link.id, "name": link.name},
        "episode": episode and sections.of_episode(episode, *zones),
        "guest": sections.of_guest(guest, booking),
    }
    told = {name: section for name, section in context.items() if section}
    return overlaid(told, extra or {})


def _shared(
    congregation: Congregation | None,
    podcast: Podcast | None,
    zones: tuple[str | None, ...],
    made: dict[tuple[UUID, str], Json],
) -> Json:
    """Return the sections that many contexts of a batch have in common."""
    if congregation is None:
        return {}
    key = (congregation.id, podcast.id if podcast else "")
    if key not in made:
        made[key] = {
            "congregation": sections.of_congregation(congregation),
            "podcast": podcast and sections.of_podcast(podcast, *zones),
        }
    return made[key]


def _zone(row: Podcast | Congregation | None) -> str | None:
    return row.timezone if row else None


def overlaid(context: Json, extra: Mapping[str, Any]) -> Json:
    """Return ``context`` with a producer's values laid over it."""
    merged = dict(context)
    for name, value in extra.items():
        if name in _NOT_FROM_PRODUCERS:
            continue
        section = merged.get(name)
        if isinstance(section, dict) and isinstance(value, dict):
            merged[name] = {**section, **value}
        else:
            merged[name] = value
    return merged


def build_full_context(
    session: Session,
    congregation_id: UUID,
    podcast_id: str | None,
    episode_id: str | None = None,
    booking_id: str | None = None,
    guest_id: str | None = None,
    extra: Json | None = None,
) -> Json:
    """Return the context of one case, for producers and previews."""
    row = Case(congregation_id, podcast_id, episode_id, booking_id, guest_id)
    return context_of(row, load_records(session, [row]), extra)


def build_contexts(session: Session, rows: Sequence[Told]) -> dict[UUID, Json]:
    """Return the fresh context of executions, jobs or events, by their ids.

    A record that is gone comes from the row's own snapshot.  A fixed number of
    queries for any number of rows.
    """
    records = load_records(session, rows)
    fresh = {row.id: context_of(row, records) for row in rows}
    torn = [row for row in rows if _lacks(row, fresh[row.id])]
    snapshots = _snapshots(session, torn)
    extras = _extras(session, rows)
    return {
        row.id: overlaid(
            {**snapshots.get(row.id, {}), **fresh[row.id]}, extras.get(row.id, {})
        )
        for row in rows
    }


def _lacks(row: About, fresh: Json) -> bool:
    """Whether a record that the row names is gone."""
    named = {
        "podcast": row.podcast_id,
        "episode": row.episode_id,
        "booking": row.booking_id,
        "guest": row.guest_id,
    }
    if any(id_ and name not in fresh for name, id_ in named.items()):
        return True
    return bool(row.guest_id) and fresh["guest"]["id"] != row.guest_id


def _snapshots(session: Session, rows: Sequence[Told]) -> dict[UUID, Json]:
    executions = [row.id for row in rows if not isinstance(row, ScheduledJob | Event)]
    jobs = [row.id for row in rows if isinstance(row, ScheduledJob)]
    found: dict[UUID, Json] = {}
    for ids in chunks(executions):
        kept = select(ExecutionContext).where(ExecutionContext.execution_id.in_(ids))
        found.update(
            {each.execution_id: each.context for each in session.scalars(kept)}
        )
    for ids in chunks(jobs):
        planned = select(JobContext).where(JobContext.scheduled_job_id.in_(ids))
        found.update(
            {each.scheduled_job_id: each.context for each in session.scalars(planned)}
        )
    return found


def _extras(session: Session, wanted: Sequence[Told]) -> dict[UUID, Json]:
    events = {row.id: event_id for row in wanted if (event_id := _event_of(row))}
    told: dict[UUID, Json] = {}
    for ids in chunks(sorted(set(events.values()))):
        rows = session.execute(_DATA, {"ids": ids})
        told.update((event_id, data) for event_id, data in rows)
    return {row_id: told[event] for row_id, event in events.items() if event in told}


#: Made once: making a statement takes longer than running this one.
_DATA: Final = select(EventData.event_id, EventData.data).where(
    EventData.event_id.in_(bindparam("ids", expanding=True))
)


def _event_of(row: Told) -> UUID | None:
    if isinstance(row, ScheduledJob):
        return None
    if isinstance(row, Event):
        return row.id
    event_id: UUID | None = getattr(row, "event_id", None)
    return event_id
