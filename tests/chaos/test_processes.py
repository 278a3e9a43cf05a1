"""F05: whole processes die: the web server under its producers, the supervisor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import select

from tasks.models import Event, Execution
from tasks.operations.audit import SYSTEM
from tasks.operations.tokens import SCOPES, create_token
from tests.chaos import tiers
from tests.chaos.harness import Installation
from tests.chaos.tiers import TIER
from tests.support.processes import ROOT, until
from tests.support.servers import free_port


class _Caller(threading.Thread):
    """Reports events over HTTP, each until it was taken; remembers the answers."""

    def __init__(self, url: str, token: str, n: int) -> None:
        super().__init__()
        self._url, self._token, self._n = f"{url}/api/v1/events", token, n
        self.taken: dict[str, str] = {}  # our id: the id that we were told

    def run(self) -> None:
        for _ in range(self._n):
            own_id = f"call-{uuid4()}"
            self.taken[own_id] = until(lambda id_=own_id: self._report(id_), 90, 0.1)

    def _report(self, own_id: str) -> str | None:
        event = {
            "trigger_type": "booking.confirmed",
            "podcast_id": "show",
            "booking_id": "b1",
        }
        request = urllib.request.Request(
            self._url,
            json.dumps(event | {"event_id": own_id}).encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {self._token}",
                "Idempotency-Key": own_id,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                told: str = json.load(answer)["event_id"]
                return told
        except (OSError, HTTPException):
            return None  # it died, before or after the commit: ask again


def _token(system: Installation) -> str:
    with system.begin() as session:
        _, token = create_token(session, system.tenant, "Chaos", SCOPES, None, SYSTEM)
    return token


@contextmanager
def _carillon(
    environ: dict[str, str], folder: Path, *command: str
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "process.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dashboard.cli", *command],
            env=environ,
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/login", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, HTTPException):
        return False


@pytest.mark.timeout(TIER.timeout)
def test_what_a_killed_web_server_had_accepted_is_there_once(
    system: Installation, tmp_path: Path
) -> None:
    chance = tiers.chance("F05")
    url = f"http://127.0.0.1:{(port := free_port())}"
    environ = system.environ | {"PORT": str(port), "BASE_URL": url}
    caller = _Caller(url, _token(system), TIER.n_events)
    system.start()
    caller.start()
    for _ in range(TIER.n_rounds):
        with _carillon(environ, tmp_path, "web") as web:
            until(lambda: _answers(url), 60)
            goal = len(caller.taken) + chance.randint(1, 10)
            until(lambda n=goal: len(caller.taken) >= n or not caller.is_alive(), 90)
            web.send_signal(signal.SIGKILL)
            web.wait()
        until(lambda: not _answers(url), 60)  # its processes end by themselves
    with _carillon(environ, tmp_path, "web"):
        caller.join(TIER.timeout)
    assert not caller.is_alive()
    system.drain(TIER.timeout)
    system.check()
    with system.begin() as session:
        stored = session.execute(select(Event.external_id, Event.id))
        assert {own: str(id_) for own, id_ in stored} == caller.taken


@pytest.mark.timeout(TIER.timeout)
def test_the_children_of_a_killed_supervisor_end_and_leave_no_lease(
    system: Installation, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{(port := free_port())}"
    environ = system.environ | {"PORT": str(port), "BASE_URL": url}
    system.producer.emit(TIER.n_events)
    with _carillon(environ, tmp_path, "run") as supervisor:
        system.flows(timeout=90)
        children = _children(supervisor.pid)
        assert len(children) == 2
        supervisor.send_signal(signal.SIGKILL)
        supervisor.wait()
    until(lambda: not any(_lives(pid) for pid in children), 60)
    with system.begin() as session:
        leased = select(Execution.id).where(Execution.lease_until.is_not(None))
        assert session.scalars(leased).all() == []
    system.start()
    system.drain(TIER.timeout)
    system.check()


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in found]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
