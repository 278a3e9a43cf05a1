"""The filter of the list of exports and imports."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class TransferFilter(PlainFilter):
    """Which exports and imports to list."""

    searched = SEARCHED["transfers"]
