"""What lives as long as the process is no work for the collector of garbage."""

from __future__ import annotations

import gc
from typing import Any, Final

#: Full collections after which what is left is set aside as well: by then templates
#: and statements are made.  Not after each one: what is under way would never end.
_SETTLING: Final = 5
_OLDEST: Final = 2  # generation


def set_aside() -> None:
    """Let no collection look at what is loaded by now, nor soon at what is made of it.

    A full collection of all of it takes a tenth of a second, in the middle of somebody
    else's page.
    """
    gc.collect()
    gc.freeze()
    gc.callbacks.append(_Settling())


class _Settling:
    """Sets aside what is left of the first full collections."""

    def __init__(self) -> None:
        self._n_left = _SETTLING

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        """Look at a collection that has begun or ended."""
        if phase != "stop" or info["generation"] != _OLDEST:
            return
        gc.freeze()
        self._n_left -= 1
        if not self._n_left:
            gc.callbacks.remove(self)
