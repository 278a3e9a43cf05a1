"""Sweeps that were asked for end, also when their worker does so first."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes import rescue
from tasks.lost_runs import LOST, SILENT_AFTER, UNKNOWN_AFTER
from tasks.models import LaneRun, LaneTrigger
from tasks.models.lane import WorkerProcess, WorkerState
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
LATER = NOW + SILENT_AFTER + timedelta(seconds=1)


def worker(make_session: Sessions, **values: Any) -> None:
    usual = {
        "id": "here",
        "hostname": "here",
        "pid": 1,
        "lanes": {},
        "state": WorkerState.RUNNING,
        "started_at": NOW,
        "heartbeat_at": NOW,
    }
    with make_session.begin() as session:
        session.add(WorkerProcess(**usual | values))


def run(make_session: Sessions, **values: Any) -> UUID:
    usual = {
        "lane": "janitor",
        "trigger": LaneTrigger.OPERATOR,
        "requested_at": NOW,
        "started_at": NOW,
        "worker": "here",
    }
    with make_session.begin() as session:
        row = LaneRun(**usual | values)
        session.add(row)
        session.flush()
        return row.id


def swept(make_session: Sessions, id_: UUID, now: datetime) -> LaneRun:
    rescue.sweep(bench(make_session, lambda: now, FakePost()), 10)
    with make_session() as session:
        return session.get_one(LaneRun, id_)


def test_what_a_silent_worker_swept_is_told_as_lost(make_session: Sessions) -> None:
    worker(make_session)
    id_ = run(make_session)
    row = swept(make_session, id_, LATER)
    assert (row.ended_at, row.error) == (LATER, LOST)


def test_so_is_what_a_stopped_worker_left(make_session: Sessions) -> None:
    worker(make_session, state=WorkerState.STOPPED)
    assert swept(make_session, run(make_session), NOW).error == LOST


@pytest.mark.parametrize("heard", [LATER, LATER - SILENT_AFTER])
def test_what_a_living_worker_sweeps_goes_on(
    make_session: Sessions, heard: datetime
) -> None:
    worker(make_session, heartbeat_at=heard)
    assert swept(make_session, run(make_session), LATER).ended_at is None


def test_a_command_that_is_no_worker_has_an_hour(make_session: Sessions) -> None:
    id_ = run(make_session, worker="a command")
    assert swept(make_session, id_, NOW + UNKNOWN_AFTER).ended_at is None
    after = NOW + UNKNOWN_AFTER + timedelta(seconds=1)
    assert swept(make_session, id_, after).error == LOST


def test_what_nobody_has_begun_waits_for_whoever_comes(make_session: Sessions) -> None:
    worker(make_session)
    id_ = run(make_session, started_at=None, worker=None)
    row = swept(make_session, id_, LATER)
    assert (row.started_at, row.ended_at, row.error) == (None, None, None)
