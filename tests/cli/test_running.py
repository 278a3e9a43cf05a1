"""Console and worker as one: started, stopped and ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import ROOT, readiness, until


@contextmanager
def running(environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run ``carillon run`` for the length of the block; it must end by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dashboard.cli", "run"],
        env=dict(environ),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str], words: str) -> str:
    """Read the output up to the line that holds ``words``, and return that line."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return line
    raise AssertionError("".join(seen))


def children(process: subprocess.Popen[str]) -> list[int]:
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [map(int, line.split()) for line in listed.stdout.splitlines()]
    return [pid for pid, parent in pairs if parent == process.pid]


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # Without an init, an orphan stays as a zombie; it does nothing any more.
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True
    )
    return state.stdout.strip().startswith("Z")


def test_run_starts_console_and_worker_and_stops_both(environ: dict[str, str]) -> None:
    environ["PYTHONWARNINGS"] = "always::ResourceWarning"  # who leaves something open
    for _ in range(2):  # a second start loses nothing and works as well
        with running(environ) as process:
            address = told(process, "Carillon is at").split()[-1]
            link = told(process, "Make the first operator").split()[-1]
            with urllib.request.urlopen(link, timeout=20) as page:
                assert page.status == 200
            assert link.startswith(address)
            assert readiness(int(environ["HEALTH_PORT"]))[0] == 200
            pids = children(process)
            assert len(pids) == 2
            process.send_signal(signal.SIGINT)
            assert process.wait(40) == 0
            assert all(is_gone(pid) for pid in pids)
            assert process.stdout is not None
            assert "ResourceWarning" not in process.stdout.read()


def test_a_child_that_dies_ends_the_whole_with_its_status(
    environ: dict[str, str],
) -> None:
    with running(environ) as process:
        told(process, "Carillon is at")
        pids = children(process)
        os.kill(pids[1], signal.SIGKILL)
        assert "worker ended with SIGKILL" in told(process, "worker ended")
        assert process.wait(40) == 128 + signal.SIGKILL
        until(lambda: is_gone(pids[0]), 10)


def test_children_do_not_outlive_a_run_that_was_killed(environ: dict[str, str]) -> None:
    with running(environ) as process:
        told(process, "Carillon is at")
        pids = children(process)
        process.kill()
        process.wait()
        until(lambda: all(is_gone(pid) for pid in pids), 40)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux has it")
def test_the_process_that_forks_the_console_has_no_threads(
    environ: dict[str, str],
) -> None:
    with running(environ) as process:
        told(process, "Carillon is at")
        web = children(process)[0]
        assert len(list(Path(f"/proc/{web}/task").iterdir())) == 1
