"""What a template may cost.  Liquid's own limits miss filters and ranges."""

from __future__ import annotations

import time
from typing import Final

from liquid.exceptions import ResourceLimitError

from tasks.saying import say

SOURCE_MAX: Final = 20_000  # bytes
TAGS_MAX: Final = 500  # {{ }} and {% %} together
OUTPUT_MAX: Final = 256 * 1024  # bytes
LOCALS_MAX: Final = 200_000  # bytes, by Liquid's rough measure
STEPS_MAX: Final = 10_000  # turns of all loops together
NESTING_MAX: Final = 10  # blocks within blocks
TEXT_MAX: Final = 256 * 1024  # characters that a filter takes or gives
ITEMS_MAX: Final = 10_000  # of a list or range that a filter takes or gives
NUMBER_MAX: Final = 1 << 63
SECONDS_MAX: Final = 1.0  # of this thread's processor time


class Stopwatch:
    """Ends a rendering that takes too much processor time."""

    def __init__(self) -> None:
        self._ends = time.thread_time() + SECONDS_MAX

    def check(self) -> None:
        """Raise ``ResourceLimitError`` when time is up."""
        if time.thread_time() > self._ends:
            raise ResourceLimitError(say("it takes too long"), token=None)


def check_size(value: object) -> None:
    """Raise ``ResourceLimitError`` when a filter's value is too big to go on with."""
    if isinstance(value, str):
        too_big = len(value) > TEXT_MAX
    elif isinstance(value, bool | float):
        too_big = False
    elif isinstance(value, int):
        too_big = abs(value) > NUMBER_MAX
    elif isinstance(value, range):
        # len() of a huge range overflows.
        too_big = value.stop - value.start > ITEMS_MAX
    elif isinstance(value, list | tuple | dict):
        too_big = len(value) > ITEMS_MAX
    else:
        too_big = False
    if too_big:
        raise ResourceLimitError(say("a value grows too big"), token=None)
