"""The worker as its operators meet it: health, pause, size, a stock consumer."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from sqlalchemy import select

from tasks.db import sessions
from tasks.models import (
    Execution,
    ExecutionState,
    LaneHeartbeat,
    LaneSetting,
    WorkerProcess,
    WorkerState,
)
from tasks.registry import LANES
from tests.acceptance.conftest import Installation
from tests.support import factories
from tests.support.processes import ROOT, readiness, until, worker


def _due(installation: Installation, n: int = 1) -> None:
    with sessions(installation.engine).begin() as session:
        if session.get(factories.Booking, (installation.tenant, "b1")) is None:
            factories.booking(session, installation.tenant)
        rule = factories.rule(session, installation.tenant)
        for _ in range(n):
            factories.execution(session, rule)


def _states(installation: Installation) -> list[ExecutionState]:
    with sessions(installation.engine)() as session:
        return list(session.scalars(select(Execution.state)))


def _set(installation: Installation, **values: object) -> None:
    with sessions(installation.engine).begin() as session:
        session.merge(LaneSetting(lane="executions", **values))


def _told(installation: Installation) -> WorkerProcess:
    with sessions(installation.engine)() as session:
        return session.scalars(
            select(WorkerProcess).order_by(WorkerProcess.started_at.desc())
        ).first()


def test_it_tells_that_it_is_ready_and_that_it_drains(
    installation: Installation,
) -> None:
    port = int(installation.environ["HEALTH_PORT"])
    installation.mails.hang("end")
    _due(installation)
    with worker(installation.environ) as process:
        until(lambda: installation.mails.n_connections)  # before that, it is given back
        assert readiness(port) == (200, {"status": "ok"})
        process.send_signal(signal.SIGTERM)
        status, body = until(lambda: _not_ready(port), 10)
        assert (status, body["reasons"]) == (503, ["draining"])
        installation.mails.behave()
        installation.mails.stop()  # cuts the line that hung
    assert process.returncode == 0
    assert _told(installation).state is WorkerState.STOPPED
    assert ExecutionState.RUNNING not in _states(installation)


def _not_ready(port: int) -> tuple[int, dict[str, object]] | None:
    answer = readiness(port)
    return answer if answer[0] == 503 else None


def test_a_pause_and_a_size_are_obeyed_without_a_restart(
    installation: Installation,
) -> None:
    _set(installation, is_paused=True, workers=3)
    with worker(installation.environ):
        _due(installation)
        until(lambda: _told(installation).lanes["executions"] == 3, 15)
        time.sleep(2)  # more than a poll
        assert _states(installation) == [ExecutionState.PENDING]
        _set(installation, is_paused=False, workers=2)
        until(lambda: _states(installation) == [ExecutionState.SUCCEEDED])
        until(lambda: _told(installation).lanes["executions"] == 2, 15)


def test_every_lane_tells_when_it_last_looked(installation: Installation) -> None:
    with worker(installation.environ):

        def beats() -> set[str]:
            with sessions(installation.engine)() as session:
                return set(session.scalars(select(LaneHeartbeat.lane)))

        until(lambda: beats() == {lane.name for lane in LANES}, 15)
        port = installation.environ["HEALTH_PORT"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            told = answer.read().decode()
        for lane in LANES:
            swept = f'carillon_lane_sweeps_total{{lane="{lane.name}",result="ok"}} '
            (line,) = [each for each in told.splitlines() if each.startswith(swept)]
            assert float(line.removeprefix(swept)) >= 1


def test_chosen_lanes_run_alone(installation: Installation) -> None:
    _due(installation)
    with worker(installation.environ, "--lanes", "rescue,janitor"):
        assert set(_told(installation).lanes) == {"rescue", "janitor"}
        time.sleep(2)  # more than a poll
        assert _states(installation) == [ExecutionState.PENDING]


def test_the_stock_consumer_runs_a_lane(installation: Installation) -> None:
    consumer = shutil.which("huey_consumer", path=str(Path(sys.executable).parent))
    assert consumer is not None
    _due(installation)
    process = subprocess.Popen(
        [consumer, "tasks.queue.executions", "--workers", "2"],
        env=installation.environ,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        installation.mails.wait_for(1, 30)
        until(lambda: _states(installation) == [ExecutionState.SUCCEEDED])
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
