"""Text that belongs to no field: where it is looked for in executions and jobs."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement

from tasks.models import Booking, Episode, EpisodeGuest, Podcast
from tasks.search.conditions import Named, any_contains, name_of

BOOKING: Final = Named(Booking, Booking.guest_name, "booking_id")
GUEST: Final = Named(EpisodeGuest, EpisodeGuest.name, "guest_id")
EPISODE: Final = Named(Episode, Episode.title, "episode_id")
PODCAST: Final = Named(Podcast, Podcast.title, "podcast_id")


def holds(rows: Any, text: str, *, is_execution: bool) -> ColumnElement[bool]:  # noqa: ANN401  # a model, or rows of it
    """Return whether a row, or what it is about, has ``text`` in it, in any case."""
    columns: list[Any] = [rows.booking_id, rows.episode_id, rows.guest_id]
    if is_execution:
        columns.append(rows.recipient)
    names = (name_of(rows, named) for named in (BOOKING, GUEST, EPISODE))
    return any_contains([*columns, *names], text)
