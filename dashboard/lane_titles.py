"""What rows that keep a lane's name call it, for people."""

from __future__ import annotations

from tasks import registry
from tasks.errors import UnknownLane
from tasks.saying import say


def lane_title(name: str) -> str:
    """Return a lane's title in the present language.

    A row may outlive its lane: then it is the name that it had.
    """
    try:
        return say(registry.lane(name).title)
    except UnknownLane:
        return name
