"""The process that renders: it knows no secrets and lives within limits.

Started by ``process``; it reads requests from its standard input and ends with it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Final

from tasks.templating.answers import Answers

MEMORY_MAX: Final = 512 * 1024 * 1024  # bytes of address space
#: Processor time for one request; Liquid's own stopwatch should end it before.
REQUEST_SECONDS: Final = 3.0
#: Files and processes a template could need: none.
_NONE: Final = (
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_CORE,
    resource.RLIMIT_NPROC,
)

#: Returns the answer to a request; None: none is due.
Answer = Callable[[bytes], bytes | None]


def limit() -> None:
    """Set the limits that hold from now on."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    for each in _NONE:
        resource.setrlimit(each, (0, 0))
    # The end comes with the parent's pipe, not with signals to all of its group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # time is up: it ends the process


def serve(answer: Answer, seconds: float = REQUEST_SECONDS) -> None:
    """Answer one request after the other until there are no more.

    Args:
        seconds: Processor time for one request; more of it ends the process.
    """
    limit()
    out = sys.stdout.fileno()
    for line in iter(sys.stdin.buffer.readline, b""):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answered = answer(line)
        if answered is not None:
            _write(out, answered)


def _write(out: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(out, rest) :]


if __name__ == "__main__":
    try:
        serve(Answers())
    except BrokenPipeError:
        os._exit(0)  # the parent is gone; there is nobody to tell
