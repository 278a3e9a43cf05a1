"""A group's hours as a picture: one bar each, drawn by the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tasks.saying import say, say_many

#: Size of the picture in its own units; one bar and its gap are one wide.
HEIGHT: Final = 20


def bars(hours: Sequence[int]) -> str:
    """Return the bars of the hours with failures, as the shape of one SVG path.

    The busiest hour fills the height.  One line along all the bars: a page shows many
    such pictures.

    >>> bars([0, 1, 4])
    'M0 20h1v-5h.8v5h.2v-20h.8v20h.2'
    """
    most = max(hours, default=0)
    return f"M0 {HEIGHT}" + "".join(_bar(n, most) for n in hours)


def _bar(n: int, most: int) -> str:
    if not n:
        return "h1"
    height = max(HEIGHT * n / most, 1.0)  # one among thousands is still seen
    return f"v-{height:.4g}h.8v{height:.4g}h.2"


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
