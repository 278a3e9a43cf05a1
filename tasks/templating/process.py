"""Starting the process that renders, talking with it, and ending it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

#: Longest wait for one answer, by the wall; the child's own limit is processor time.
PATIENCE_SECONDS: Final = 10.0
#: How long a child may take to end by itself.
_END_SECONDS: Final = 2.0
_CHUNK: Final = 1 << 16
_READ, _WRITE = select.POLLIN | select.POLLHUP, select.POLLOUT
COMMAND: Final = (sys.executable, "-P", "-m", "tasks.templating.child")
#: All that the child learns of our environment: how Python starts, and no secrets.
_KEPT: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONTZPATH", "TZ")


class Process:
    """One running child; not safe for several threads."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        paths = os.pathsep.join(path for path in sys.path if path)
        self._child = subprocess.Popen(  # noqa: S603  # our own module, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**kept, "PYTHONPATH": paths, "PYTHONUTF8": "1"},
        )
        assert self._child.stdin is not None  # noqa: S101  # narrows the types
        assert self._child.stdout is not None  # noqa: S101  # narrows the type
        self._in = self._child.stdin.fileno()
        self._out = self._child.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._poll = select.poll()
        self._poll.register(self._out, _READ)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def converse(
        self, lines: bytes, n_answers: int, patience: float = PATIENCE_SECONDS
    ) -> list[bytes]:
        """Send ``lines`` and return the answers; fewer when the child ended or hangs.

        After fewer answers the child is of no more use: ``end`` it.
        """
        rest, heard = memoryview(lines), bytearray()
        answers: list[bytes] = []
        deadline = time.monotonic() + patience
        self._poll.register(self._in, _WRITE)
        while len(answers) < n_answers or rest:
            wait = max(0.0, deadline - time.monotonic())
            events = dict(self._poll.poll(wait * 1000))
            if not events:
                break
            if self._in in events:
                rest = self._send(rest)
            if self._out in events:
                chunk = os.read(self._out, _CHUNK)
                if not chunk:
                    break
                heard += chunk
                *full, heard = heard.split(b"\n")
                answers += map(bytes, full)
                if full:
                    deadline = time.monotonic() + patience
        return answers

    def _send(self, rest: memoryview) -> memoryview:
        try:
            rest = rest[os.write(self._in, rest[:_CHUNK]) :]
        except BlockingIOError:
            return rest
        except BrokenPipeError:
            rest = rest[:0]  # it has ended; its answers up to then are still to be read
        if not rest:
            self._poll.unregister(self._in)
        return rest

    def end(self, *, at_once: bool = False) -> None:
        """End the child, and wait for its end."""
        if at_once:
            self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
