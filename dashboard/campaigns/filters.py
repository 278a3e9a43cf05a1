"""The filter of the list of campaigns."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class CampaignFilter(PlainFilter):
    """Which campaigns to list; the year above it shows all."""

    searched = SEARCHED["campaigns"]
