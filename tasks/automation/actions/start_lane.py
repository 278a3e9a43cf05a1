"""The action ``start_lane``: asks for one sweep of a lane that allows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy.orm import Session

from tasks.automation.actions.base import Effects, Envelope, Outcome, TryAgain
from tasks.saying import mark, say


class StartLaneAction:
    """Does what "Sweep now" does on a lane's page, when the rule fires.

    Settings: ``lane``.  Lanes that run executions cannot be asked for: a rule would
    feed itself.
    """

    name = "start_lane"
    title = mark("Start a lane")
    keeps_body = False
    is_within = True

    def __init__(self) -> None:
        self._lanes: Mapping[str, str] = MappingProxyType({})

    def configure(self, lanes: Mapping[str, str]) -> None:
        """Let it know the lanes that may be asked for: name -> title.

        The registry knows them, and it stands further out than actions do.
        """
        self._lanes = MappingProxyType(dict(lanes))

    @property
    def lanes(self) -> Mapping[str, str]:
        """The lanes that may be asked for: name -> title."""
        return self._lanes

    def check(self, settings: Mapping[str, Any], trigger_type: str) -> dict[str, str]:
        """Return what is wrong with the choice: field name -> sentence."""
        if settings.get("lane") in self._lanes:
            return {}
        known = ", ".join(say(title) for title in self._lanes.values())
        return {"lane": say("Choose the lane to start: %(lanes)s.", lanes=known)}

    def recipient(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        """Return the lane's name: it goes nowhere else, and titles may change."""
        return str(settings.get("lane") or "") or None

    def compose(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return ``lane`` and a sentence; whether it may be started, starting sees."""
        lane = str(settings.get("lane") or "")
        title = say(self._lanes.get(lane, lane))
        text = say("Asks for one sweep of the lane %(lane)s.", lane=title)
        return {"lane": lane, "text": text}

    def act(
        self, message: Mapping[str, Any], envelope: Envelope, effects: Effects
    ) -> Outcome:
        """Answer that there is no transaction to ask in."""
        return TryAgain("A lane is started within a transaction only.")

    def act_within(
        self,
        session: Session,
        deeds: Sequence[tuple[Mapping[str, Any], Envelope]],
        effects: Effects,
    ) -> Sequence[Outcome]:
        """Ask for the sweeps."""
        start = effects.starter.start
        return [start(session, str(said["lane"]), envelope) for said, envelope in deeds]
