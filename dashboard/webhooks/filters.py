"""The filter of the list of endpoints."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class EndpointFilter(PlainFilter):
    """Which endpoints to list."""

    searched = SEARCHED["endpoints"]
