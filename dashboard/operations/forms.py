"""The filter of the list of operations."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class OperationFilter(PlainFilter):
    """Which operations to list."""

    searched = SEARCHED["operations"]
