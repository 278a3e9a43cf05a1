"""Which events an endpoint asks for."""

from __future__ import annotations

from typing import Final, Protocol

from tasks.automation.triggers import TRIGGERS
from tasks.models.endpoint import Endpoint

#: Event types that an endpoint may choose -> what operators read.
EVENT_TYPES: Final = {
    each.name: each.title for each in TRIGGERS.values() if not each.is_time
}


class Happened(Protocol):
    """What of an event decides who hears of it."""

    @property
    def type(self) -> str:
        """The event's type."""

    @property
    def podcast_id(self) -> str | None:
        """The podcast; None: it is about none."""


def asks_for(endpoint: Endpoint, event: Happened) -> bool:
    """Whether the endpoint wants to hear of an event of its congregation."""
    if endpoint.event_types is not None and event.type not in endpoint.event_types:
        return False
    return endpoint.podcast_ids is None or event.podcast_id in endpoint.podcast_ids
