"""The filter of the list of holds that ended."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class HoldFilter(PlainFilter):
    """Which of the holds that ended to list."""

    searched = SEARCHED["holds"]
