"""What the notification library says: heard here, and kept out of every log.

Its warnings are the only place where it tells the status of an answer; they may hold
the whole address, password and all.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class _Ear(logging.Filter):
    """Lets nothing pass; keeps what is said in the threads that listen."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        said: list[str] | None = getattr(self.heard, "said", None)
        if said is not None and record.levelno >= logging.WARNING:
            said.append(record.getMessage())
        return False


_EAR: Final = _Ear()
logging.getLogger("apprise").addFilter(_EAR)


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect the library's warnings of this thread, in their order."""
    said: list[str] = []
    _EAR.heard.said = said
    try:
        yield said
    finally:
        _EAR.heard.said = None
