"""Text that belongs to no field: where it is looked for in executions and jobs."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, or_

from tasks.models import Booking, Episode, EpisodeGuest
from tasks.search.conditions import has_name

#: What executions and jobs are about: model, its name, their column with its id.
NAMES: Final[tuple[tuple[Any, Any, str], ...]] = (
    (Booking, Booking.guest_name, "booking_id"),
    (EpisodeGuest, EpisodeGuest.name, "guest_id"),
    (Episode, Episode.title, "episode_id"),
)


def holds(model: Any, text: str, *, is_execution: bool) -> ColumnElement[bool]:  # noqa: ANN401  # the table, or a part of it
    """Return whether a row, or what it is about, has ``text`` in it, in any case."""
    columns: list[Any] = [model.booking_id, model.episode_id, model.guest_id]
    if is_execution:
        columns.append(model.recipient)
    return or_(
        *(column.icontains(text, autoescape=True) for column in columns),
        *(
            has_name(table, name, model.congregation_id, getattr(model, id_), text)
            for table, name, id_ in NAMES
        ),
    )
