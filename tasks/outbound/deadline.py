"""A total deadline for one conversation with another machine."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from types import TracebackType
from typing import Self

#: A socket's own timeout is never below this; zero would mean "do not block".
_SHORTEST = 0.001  # seconds


class Deadline:
    """Ends a conversation after ``seconds``, however slowly the other side drips.

    A timeout of a socket only bounds one read; a byte now and then keeps a call alive
    for ever.  So a timer shuts the watched sockets down.  What was read by then may
    look complete: ask ``has_passed`` before believing it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds
        self._rang = False
        #: Whether a connection stood when time was up; afterwards nobody can tell.
        self.has_cut = False
        self._lock = threading.Lock()
        self._watched: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._ring)
        self._timer.daemon = True

    @property
    def remaining(self) -> float:
        """Seconds left, at least a millisecond: fit for a socket's timeout."""
        return max(self._ends - time.monotonic(), _SHORTEST)

    @property
    def has_passed(self) -> bool:
        """Whether time is up."""
        return self._rang or time.monotonic() >= self._ends

    def watch(self, connection: socket.socket) -> None:
        """Shut ``connection`` down when time is up, even after TLS was put over it."""
        # TLS takes the descriptor away from the plain socket; a duplicate stays ours.
        duplicate = connection.dup()
        with self._lock:
            self._watched.append(duplicate)
        if self._rang:
            self._ring()

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            for duplicate in self._watched:
                duplicate.close()
            self._watched.clear()

    def _ring(self) -> None:
        self._rang = True
        with self._lock:
            for duplicate in self._watched:
                # Gone already: nothing is left to end.
                with contextlib.suppress(OSError):
                    duplicate.getpeername()
                    self.has_cut = True
                    duplicate.shutdown(socket.SHUT_RDWR)
