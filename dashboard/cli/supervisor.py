"""Several processes that live and die together."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

#: How often the supervisor looks whether a child died, in seconds.
_LOOK_SECONDS: Final = 0.1


@dataclass(slots=True)
class Supervisor:
    """Runs ``carillon`` commands as children until one ends or a signal comes."""

    environ: Mapping[str, str]
    grace: float  # seconds that children get after SIGTERM, before they are killed
    _children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _is_stopping: bool = False

    def start(self, *command: str) -> None:
        """Start ``carillon <command>``; it ends when this process does."""
        self._children[command[0]] = subprocess.Popen(  # noqa: S603  # our own
            [sys.executable, "-m", "dashboard.cli", *command, "--lifeline"],
            env=dict(self.environ),
            stdin=subprocess.PIPE,
            # A session of its own: Ctrl-C reaches this process alone, which then
            # stops its children in good order.
            start_new_session=True,
        )

    def run(self, *, is_up: Callable[[], bool], when_up: Callable[[], None]) -> int:
        """Wait until a child ends or SIGTERM or SIGINT comes; then stop all.

        Returns the status of the child that died, and 0 after a signal.
        """
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        is_told = False
        while not self._is_stopping and not self._dead():
            if not is_told and is_up():
                is_told = True
                when_up()
            time.sleep(_LOOK_SECONDS)
        status = 0 if self._is_stopping else self._report()
        self.stop()
        return status

    def stop(self) -> None:
        """Ask every child to end, and end those that do not in time."""
        for child in self._children.values():
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + self.grace
        for name, child in self._children.items():
            with child:  # at its end the lifeline is let go as well
                try:
                    child.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    sys.stderr.write(f"carillon: {name} did not end in time; killed.\n")
                    child.kill()

    def _stop(self, _signum: int, _frame: FrameType | None) -> None:
        self._is_stopping = True

    def _dead(self) -> Sequence[str]:
        return [n for n, child in self._children.items() if child.poll() is not None]

    def _report(self) -> int:
        """Tell which child died, and return its status as a shell would."""
        name = self._dead()[0]
        code = self._children[name].returncode
        how = f"status {code}" if code >= 0 else signal.Signals(-code).name
        sys.stderr.write(f"carillon: {name} ended with {how}; stopping the rest.\n")
        return code if code > 0 else 1 if code == 0 else 128 - code
