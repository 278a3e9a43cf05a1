"""A worker that is killed in a sync has changed nothing, and the next one does it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine

from tasks.congregation.vanished import take_back_long_jobs
from tasks.long_jobs import LEASE
from tasks.models.long_job import LongJobState
from tests.support.address_rows import ban, street
from tests.tasks.congregation.addresses.conftest import Desk

_DYING = """
import sys
from dataclasses import replace
from pathlib import Path
from sqlalchemy import make_url
from tasks.db import make_engine, sessions
from tasks.lanes.sync import sweep
from tasks.storage.local import LocalStorage
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

made = bench(sessions(make_engine(make_url(sys.argv[1]))), lambda: NOW, FakePost())
sweep(replace(made, storage=LocalStorage(Path(sys.argv[2]))), 1)
"""


def test_a_killed_worker_has_changed_nothing_and_the_next_one_finishes(
    desk: Desk, engine: Engine, tmp_path: Path
) -> None:
    asked = desk.ask(ban(street(5)))
    _die(engine, tmp_path / "files")
    left = desk.seen(asked)
    assert (left.state, desk.addresses) == (LongJobState.RUNNING, [])
    assert desk.sweep().done == ()  # its lease holds
    desk.now += LEASE
    with desk.make_session.begin() as session:
        assert take_back_long_jobs(session, desk.now, 10) == [asked.id]
    desk.now += timedelta(hours=1)
    assert desk.sweep().done == (asked.id,)
    done = desk.seen(asked)
    assert (done.attempt, done.report["created"]) == (2, 5)
    assert desk.events == ["sync.completed"]


def _die(engine: Engine, files: Path) -> None:
    """Sweep in a process that is killed right before it commits its changes."""
    url = engine.url.render_as_string(hide_password=False)
    environment = os.environ | {"CRASH_AT": "in_sync", "CARILLON_ENV": "test"}
    command = [sys.executable, "-c", _DYING, url, str(files)]
    died = subprocess.run(command, env=environment, check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
