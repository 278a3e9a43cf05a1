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


def hold_lifeline() -> None:
    """Send this process SIGTERM once standard input closes.

    A parent that was killed cannot tell its children; its end of the pipe closes.
    """

    def wait() -> None:
        # Not sys.stdin: its lock, held here, would be copied into forked processes.
        while os.read(0, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
