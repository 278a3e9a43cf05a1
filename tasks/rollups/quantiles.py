"""What counts in buckets say of times: quantiles, and how many kept a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from tasks.models.rollup import BOUNDS

#: What lies beyond the last bound is taken as no longer than this many times it.
_BEYOND: Final = 4
_FIRST: Final = 0.001  # seconds; the lower end of the first bucket


def quantile(buckets: Mapping[int, int], q: float) -> float | None:
    """Return the time in seconds that a share ``q`` of what was counted kept.

    It is a guess between the ends of the bucket that it falls into, as though times lay
    evenly on a logarithmic scale; ``None``: nothing was counted.

    >>> quantile({11: 9, 13: 1}, 0.5) == quantile({11: 900, 13: 100}, 0.5)
    True
    >>> 30 < (quantile({11: 9, 13: 1}, 0.5) or 0) < 60
    True
    """
    total = sum(buckets.values())
    if not total:
        return None
    wanted, passed = q * total, 0
    for bucket in sorted(buckets):
        n = buckets[bucket]
        if passed + n >= wanted:
            low, high = _ends(bucket)
            part = (wanted - passed) / n
            return math.exp(math.log(low) + part * (math.log(high) - math.log(low)))
        passed += n
    return _ends(max(buckets))[1]


def n_within(buckets: Mapping[int, int], seconds: float) -> int:
    """Return how many of what was counted took no longer than a bound."""
    return sum(n for bucket, n in buckets.items() if _ends(bucket)[1] <= seconds)


def _ends(bucket: int) -> tuple[float, float]:
    low = BOUNDS[bucket - 1] if bucket else _FIRST
    return low, BOUNDS[bucket] if bucket < len(BOUNDS) else BOUNDS[-1] * _BEYOND
