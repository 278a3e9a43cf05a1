"""Worker processes that a measurement starts, freezes and ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

ROOT: Final = Path(__file__).parents[1]
_END_SECONDS: Final = 10.0


class Crew:
    """Processes with their children, in groups of their own."""

    def __init__(
        self, commands: Sequence[Sequence[str]], environ: Mapping[str, str], log: Path
    ) -> None:
        self._log = log
        with log.open("ab") as output:
            self._processes = [
                subprocess.Popen(  # noqa: S603  # our own commands
                    list(command),
                    env={**os.environ, **environ},
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                for command in commands
            ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ask all to end, and end those that do not."""
        self._tell(signal.SIGCONT)
        self._tell(signal.SIGTERM)
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
        self._tell(signal.SIGKILL)
        for process in self._processes:
            process.wait()

    def freeze(self) -> None:
        """Stop all in the middle of whatever they do."""
        self._tell(signal.SIGSTOP)

    def go(self) -> None:
        """Let all go on."""
        self._tell(signal.SIGCONT)

    def check(self) -> None:
        """See that all live.

        Raises:
            RuntimeError: one has ended; the message shows what it said.
        """
        if any(process.poll() is not None for process in self._processes):
            raise RuntimeError(self._log.read_text(errors="replace")[-3_000:])

    def _tell(self, what: signal.Signals) -> None:
        for process in self._processes:
            try:
                os.killpg(process.pid, what)
            except ProcessLookupError:
                continue  # the whole group has ended
