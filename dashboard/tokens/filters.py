"""The filter of the list of tokens."""

from __future__ import annotations

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class TokenFilter(PlainFilter):
    """Which tokens to list."""

    searched = SEARCHED["tokens"]
