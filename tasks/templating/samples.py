"""Values to try a template with, before there are real ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

_BY_ENDING: Final = (
    ("timezone", "UTC"),
    ("_time", "2026-03-12T14:00:00+00:00"),
    ("_at", "2026-03-12T14:00:00+00:00"),
    ("_for", "2026-03-12T14:00:00+00:00"),
    ("email", "guest@example.org"),
    ("address", "guest@example.org"),
    ("_url", "https://example.org/room"),
    ("_number", 7),
    ("revision", 1),
)


def sample_values(variables: Iterable[str]) -> dict[str, Any]:
    """Return a value for every dotted name, grouped as in a real context.

    >>> sample_values(["guest.name", "episode.episode_number"])
    {'guest': {'name': 'Example'}, 'episode': {'episode_number': 7}}
    """
    values: dict[str, Any] = {}
    for variable in variables:
        *groups, name = variable.split(".")
        place = values
        for group in groups:
            place = place.setdefault(group, {})
        place[name] = next(
            (sample for end, sample in _BY_ENDING if name.endswith(end)), "Example"
        )
    return values
