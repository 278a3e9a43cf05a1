"""Looking that the records which a producer names are there, and belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol
from uuid import UUID

from tasks.automation.records import About, Records
from tasks.errors import InvalidInput, NotFound


class _OfPodcast(Protocol):
    @property
    def podcast_id(self) -> str: ...


_NAMES: Final = ("booking", "episode", "guest")


def refuse_unknown(about: About, records: Records, *, trusts: bool = False) -> None:
    """Raise unless every record that ``about`` names is known.

    Args:
        trusts: look at the podcast alone; for ids that come from our own records,
            which may name an episode or a guest that is told later.

    Raises:
        NotFound: a record does not exist in the congregation.
        InvalidInput: a record belongs to another podcast.
    """
    of = about.congregation_id
    if of not in records.congregations:
        raise NotFound(
            "unknown_congregation", f"There is no congregation with the id {of}."
        )
    if trusts and about.podcast_id is None:
        return  # an event of ours that concerns no podcast
    if (of, about.podcast_id or "") not in records.podcasts:
        raise NotFound(
            "unknown_podcast",
            f"There is no podcast {about.podcast_id!r}; make it known first.",
            field="podcast_id",
        )
    if trusts:
        return
    tables: dict[str, Mapping[tuple[UUID, str], _OfPodcast]] = {
        "booking": records.bookings,
        "episode": records.episodes,
        "guest": records.guests,
    }
    for name in _NAMES:
        record_id: str | None = getattr(about, f"{name}_id")
        if record_id is not None:
            _refuse(name, record_id, tables[name].get((of, record_id)), about)


def _refuse(name: str, record_id: str, row: _OfPodcast | None, about: About) -> None:
    field = f"{name}_id"
    if row is None:
        raise NotFound(
            f"unknown_{name}",
            f"There is no {name} {record_id!r}; make it known first.",
            field=field,
        )
    if row.podcast_id != about.podcast_id:
        raise InvalidInput(
            "podcast_mismatch",
            f"The {name} {record_id!r} belongs to another podcast "
            f"than {about.podcast_id!r}.",
            field=field,
        )
