"""What a rule that starts a lane needs."""

from __future__ import annotations

from typing import Any

from wtforms import SelectChoice, SelectField

from dashboard.rules.fields.base import ActionFields
from tasks.automation.actions import START_LANE
from tasks.saying import later, say


def _lanes() -> list[SelectChoice]:
    return [SelectChoice(name, say(title)) for name, title in START_LANE.lanes.items()]


class StartLaneFields(ActionFields):
    """The lane to start."""

    names: tuple[str, ...] = ("lane",)

    lane = SelectField(
        later("Lane"),
        choices=_lanes,  # asked for when a form is made: the console tells them
        validate_choice=False,  # the action says it better
        description=later(
            "Asks for one sweep, as “Sweep now” does on the lane’s page."
        ),
    )

    def settings(self) -> dict[str, Any]:
        """Return the lane."""
        return {"lane": self.lane.data or ""}
