"""Every list that can be searched, as the console knows it: one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tasks.search.fields import Fields
from tasks.search.lists import LISTS


@dataclass(frozen=True, slots=True)
class Searched:
    """A list that can be searched."""

    word: str  # in addresses, and the key of ``tasks.search.lists.LISTS``
    title: str
    one: str  # what one of its rows is called
    many: str
    endpoint: str
    #: Fields that the list's own filter has as well -> what they are called there.
    lifts: Mapping[str, str]
    box: str = "q"  # what the search is called in the list's address

    @property
    def fields(self) -> Fields:
        """What may be asked for."""
        return LISTS[self.word]


SEARCHED: Final[Mapping[str, Searched]] = {
    each.word: each
    for each in (
        Searched(
            "executions",
            "Executions",
            "execution",
            "executions",
            "executions.index",
            lifts={
                "state": "state",
                "booking": "booking",
                "event": "event",
                "late": "late",
            },
        ),
        Searched(
            "scheduled",
            "Scheduled",
            "scheduled job",
            "scheduled jobs",
            "scheduled.index",
            lifts={
                "state": "state",
                "booking": "booking",
                "late": "late",
            },
        ),
        Searched(
            "events",
            "Events",
            "event",
            "events",
            "events.index",
            box="text",
            lifts={"type": "type", "booking": "booking"},
        ),
        Searched(
            "deliveries",
            "Deliveries",
            "delivery",
            "deliveries",
            "webhooks.deliveries",
            lifts={"state": "state", "type": "type"},
        ),
    )
}
