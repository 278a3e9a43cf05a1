"""The filter of the list of congregations."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class CongregationFilter(PlainFilter):
    """Which congregations to list."""

    searched = SEARCHED["congregations"]
