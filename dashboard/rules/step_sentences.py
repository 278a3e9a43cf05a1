"""When the steps of a rule come, in words."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

_SIZES: Final = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def after(delay: timedelta) -> str:
    """Return when a step comes.

    >>> after(timedelta(days=2)), after(timedelta(hours=25)), after(timedelta(0))
    ('2 days later', '25 hours later', 'at once')
    """
    for name, size in _SIZES:
        if delay and delay % size == timedelta(0):
            count = delay // size
            return f"{count} {name}{'' if count == 1 else 's'} later"
    return "at once"
