"""A group's hours as a picture: one bar each, drawn by the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tasks.saying import say, say_many

#: Size of the picture in its own units; one bar and its gap are one wide.
HEIGHT: Final = 20


def bars(hours: Sequence[int]) -> str:
    """Return the bars of the hours with failures, as the shape of one SVG path.

    The busiest hour fills the height.  One outline of all the bars: a page shows many
    such pictures.

    >>> bars([0, 1, 1, 4])
    'M0 20h1V15h1h1V0h1V20z'
    """
    most = max(hours, default=0)
    drawn, level = f"M0 {HEIGHT}", HEIGHT
    for n in hours:
        top = HEIGHT - _height(n, most)
        drawn += "h1" if top == level else f"V{top}h1"
        level = top
    return f"{drawn}V{HEIGHT}z"


def _height(n: int, most: int) -> int:
    # One among thousands is still seen.
    return max(round(HEIGHT * n / most), 1) if n else 0


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
