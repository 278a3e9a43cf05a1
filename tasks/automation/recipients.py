"""Who an execution would go to, as far as it can be told when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from tasks.automation.actions import ACTIONS, START_LANE
from tasks.saying import say

#: As long as the column; a longer address is no address.
_MAX: Final = 320


class Doing(Protocol):
    """A rule, or one of its steps."""

    @property
    def action(self) -> str:
        """A key of ACTIONS."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the action needs."""


def recipient_of(doing: Doing, context: Mapping[str, Any]) -> str | None:
    """Return the address; ``None``: there is none, or the action is not known here."""
    action = ACTIONS.get(doing.action)
    address = action.recipient(doing.settings, context) if action else None
    return address[:_MAX] if address else None


def named(action: str, recipient: str | None) -> str:
    """Return a recipient as people read it: a lane by its title; empty: nobody yet."""
    if action == START_LANE.name and recipient:
        return say(START_LANE.lanes.get(recipient, recipient))
    return recipient or ""
