"""A child that must not outlive its parent: it ends when the parent's pipe closes."""

from __future__ import annotations

import os
import signal
import threading

import click
from click.decorators import FC


def lifeline_option(command: FC) -> FC:
    """Add the switch with which ``carillon run`` starts its children."""
    return click.option("--lifeline", is_flag=True, hidden=True)(command)


def hold_lifeline(pid: int | None = None) -> None:
    """Send SIGTERM to this process, or to its parent ``pid``, once input closes.

    A parent that was killed cannot tell its children; its end of the pipe closes.  A
    process that forks leaves the watch to those it forks: beside a thread a fork may
    deadlock, of which Python 3.12 and newer warn.
    """

    def wait() -> None:
        # Not sys.stdin: Python cannot end in order while this thread holds its lock.
        while os.read(0, 1024):
            pass
        # The number of a parent that is gone may be somebody else's by now.
        if pid in (None, os.getppid()):
            os.kill(pid or os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
