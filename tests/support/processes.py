"""Carillon's own processes, started as users start them, ended by their tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.support import warm
from tests.support.servers import free_port
from tests.support.warm import WarmProcess

ROOT = Path(__file__).parents[2]
T = TypeVar("T")


def until(what: Callable[[], T], timeout: float = 10.0, every: float = 0.02) -> T:
    """Return ``what()`` once it is truthy; fails after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while not (found := what()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s")
        time.sleep(every)
    return found


def environment(var_dir: Path, **settings: str) -> dict[str, str]:
    """Return a process environment with nothing but what Carillon needs."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(var_dir),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "VAR_DIR": str(var_dir),
        "SECRET_KEY": "test-key-0123456789-abcdefghijklmnop",
        "MAIL_FROM": "Carillon <bells@example.org>",
        "HEALTH_PORT": str(free_port()),
        **settings,
    }


def readiness(port: int) -> tuple[int, dict[str, object]]:
    """Return status and body of a worker's ``/readyz``; 0 when nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as ok:
            return ok.status, json.load(ok)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def start_worker(environ: Mapping[str, str], *arguments: str) -> WarmProcess:
    """Start ``carillon worker`` and return at once."""
    log = Path(environ["VAR_DIR"]) / "worker.log"
    return warm.start(("worker", *arguments), environ, log)


@contextmanager
def worker(environ: Mapping[str, str], *arguments: str) -> Iterator[WarmProcess]:
    """Run a ready worker for the length of the block; it must end cleanly."""
    process = start_worker(environ, *arguments)
    port = int(environ["HEALTH_PORT"])

    def is_ready() -> bool:
        if process.poll() is not None:
            raise AssertionError(_log(environ))
        return readiness(port)[0] == 200

    try:
        until(is_ready, 30)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(_log(environ)) from None


def _log(environ: Mapping[str, str]) -> str:
    return (Path(environ["VAR_DIR"]) / "worker.log").read_text(errors="replace")[-4000:]
