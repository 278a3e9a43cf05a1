"""The filter of the list of congregations and who left them."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class RetentionFilter(PlainFilter):
    """Which congregations to list."""

    searched = SEARCHED["retention"]
