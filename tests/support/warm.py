"""Processes of Carillon from a warm start: the worker is imported once for all of them.

Tests of workers start many of them, and their imports were half of what such a test
cost.  Here a server, which each test process starts once, has imported the worker; a
process is a fork of it that runs the command line with arguments, environment and
output of its own.  That users' own start works, tests/cli and tests/browser show.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final

import tasks.crashpoints

_CONTEXT: Final = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.warm", "dashboard.cli.worker"])


class WarmProcess:
    """One command under way, with the part of ``subprocess.Popen`` that tests need."""

    def __init__(
        self, arguments: tuple[str, ...], environ: Mapping[str, str], log: Path
    ) -> None:
        self._process: ForkServerProcess = _CONTEXT.Process(
            target=_become, args=(arguments, dict(environ), str(log)), daemon=True
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, the negative signal's number, or ``None``."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit status if it has ended."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status once it has ended.

        Raises:
            subprocess.TimeoutExpired: after ``timeout`` seconds.
        """
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(f"carillon ({self.pid})", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def start(
    arguments: tuple[str, ...], environ: Mapping[str, str], log: Path
) -> WarmProcess:
    """Start ``carillon`` with ``arguments`` and return at once.

    Its output goes to the end of ``log``, and ``environ`` is all of its environment.
    """
    return WarmProcess(arguments, environ, log)


def _become(arguments: tuple[str, ...], environ: dict[str, str], log: str) -> None:
    """Be ``carillon`` from here on."""
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["carillon", *arguments]
    gc.enable()

    # What was imported before this environment was known.
    importlib.reload(tasks.crashpoints)
    from dashboard.cli import main

    main()
