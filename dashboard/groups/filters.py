"""The filter of the list of groups."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class GroupFilter(PlainFilter):
    """Which groups to list."""

    searched = SEARCHED["groups"]
