"""A group's hours as a picture: one bar each, drawn by the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tasks.saying import say, say_many

#: Size of the picture in its own units; one bar and its gap are one wide.
HEIGHT: Final = 20


def bars(hours: Sequence[int]) -> str:
    """Return the bars of the hours with failures, as the shape of one SVG path.

    The busiest hour fills the height.

    >>> bars([0, 1, 4])
    'M1 20h.8v-5h-.8zM2 20h.8v-20h-.8z'
    """
    most = max(hours, default=0)
    found = []
    for x, n in enumerate(hours):
        if n:
            height = max(HEIGHT * n / most, 1.0)  # one among thousands is still seen
            found.append(f"M{x} {HEIGHT}h.8v-{height:.4g}h-.8z")
    return "".join(found)


def sentence(hours: Sequence[int]) -> str:
    """Return the picture in words.

    >>> sentence([0, 1, 4])
    '5 failures in the last 3 hours, the most in one hour: 4, the latest hour: 4'
    """
    total = sum(hours)
    if not total:
        return say("No failures in the last %(hours)s hours", hours=len(hours))
    return say_many(
        total,
        "%(n)s failure in the last %(hours)s hours, the most in one hour: %(most)s, "
        "the latest hour: %(latest)s",
        "%(n)s failures in the last %(hours)s hours, the most in one hour: %(most)s, "
        "the latest hour: %(latest)s",
        hours=len(hours),
        most=max(hours),
        latest=hours[-1],
    )
