"""Pausing, resizing and ringing a lane: once each, recorded, and refused in words."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.db import Begin
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.lane import WORKERS_MAX
from tasks.models import AuditEntry, LaneRun, LaneSetting, LaneTrigger
from tasks.operations.audit import Actor
from tasks.operations.lanes import pause_lane, resume_lane, set_workers, sweep_now

ANNA = Actor("anna@example.org", "127.0.0.1")
BORIS = Actor("boris@example.org")


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    monkeypatch.setattr(doorbell, "_listeners", [heard.append])
    return heard


def _actions(session: Session) -> list[tuple[str, str, str]]:
    rows = session.scalars(select(AuditEntry).order_by(AuditEntry.id))
    return [(row.actor, row.action, row.subject_id) for row in rows]


def test_a_pause_remembers_who_and_since_when(begin: Begin, now: datetime) -> None:
    with begin() as session:
        assert pause_lane(session, "executions", ANNA, now=now)
    with begin() as session:
        setting = session.get_one(LaneSetting, "executions")
        assert setting.is_paused
        assert setting.paused_by == ANNA.name
        assert setting.paused_at == now
        assert _actions(session) == [(ANNA.name, "lane.paused", "executions")]


def test_pausing_twice_keeps_the_first_name(begin: Begin, now: datetime) -> None:
    with begin() as session:
        pause_lane(session, "executions", ANNA, now=now)
    with begin() as session:
        assert not pause_lane(
            session, "executions", BORIS, now=now + timedelta(hours=1)
        )
    with begin() as session:
        setting = session.get_one(LaneSetting, "executions")
        assert (setting.paused_by, setting.paused_at) == (ANNA.name, now)
        assert len(_actions(session)) == 1


def test_a_resumed_lane_is_rung(begin: Begin, now: datetime, bells: list[str]) -> None:
    with begin() as session:
        assert not resume_lane(session, "executions", ANNA, now=now)
        pause_lane(session, "executions", ANNA, now=now)
    with begin() as session:
        assert resume_lane(session, "executions", BORIS, now=now)
        assert bells == []  # not before the commit
    assert bells == ["executions"]
    with begin() as session:
        setting = session.get_one(LaneSetting, "executions")
        assert not setting.is_paused
        assert setting.paused_by is None
        last = session.scalars(
            select(AuditEntry).order_by(AuditEntry.id.desc())
        ).first()
        assert last is not None
        assert last.before is not None
        assert last.before["paused_by"] == ANNA.name


def test_workers_are_set_and_given_back_to_the_registry(
    begin: Begin, now: datetime
) -> None:
    with begin() as session:
        assert set_workers(session, "rescue", 3, ANNA, now=now)
        assert not set_workers(session, "rescue", 3, ANNA, now=now)
        assert session.get_one(LaneSetting, "rescue").workers == 3
        assert set_workers(session, "rescue", None, ANNA, now=now)
        assert session.get_one(LaneSetting, "rescue").workers is None
        session.flush()
        assert [action for _, action, _ in _actions(session)] == ["lane.resized"] * 2


@pytest.mark.parametrize("number", [0, -1, WORKERS_MAX + 1])
def test_a_worker_count_out_of_bounds_is_refused(
    begin: Begin, now: datetime, number: int
) -> None:
    with begin() as session, pytest.raises(InvalidInput) as refused:
        set_workers(session, "rescue", number, ANNA, now=now)
    assert refused.value.field == "workers"
    assert str(WORKERS_MAX) in refused.value.message


def test_a_sweep_asked_for_waits_for_a_worker_and_rings(
    begin: Begin, now: datetime, bells: list[str]
) -> None:
    with begin() as session:
        run_id = sweep_now(session, "executions", ANNA, now=now).id
    assert bells == ["executions"]
    with begin() as session:
        run = session.get_one(LaneRun, run_id)
        assert run.trigger is LaneTrigger.OPERATOR
        assert (run.requested_by, run.requested_at) == (ANNA.name, now)
        assert run.started_at is None
        assert _actions(session) == [(ANNA.name, "lane.swept", "executions")]


def test_a_second_request_is_refused_while_the_first_one_waits(
    begin: Begin, now: datetime
) -> None:
    with begin() as session:
        run_id = sweep_now(session, "executions", ANNA, now=now).id
        sweep_now(session, "rescue", ANNA, now=now)  # another lane's is its own
    with begin() as session, pytest.raises(Conflict) as refused:
        sweep_now(session, "executions", BORIS, now=now)
    assert refused.value.code == "sweep_waiting"
    with begin() as session:
        session.get_one(LaneRun, run_id).started_at = now
    with begin() as session:
        sweep_now(session, "executions", BORIS, now=now)


def test_no_sweep_of_a_paused_lane(begin: Begin, now: datetime) -> None:
    with begin() as session:
        pause_lane(session, "executions", ANNA, now=now)
    with begin() as session, pytest.raises(Conflict) as refused:
        sweep_now(session, "executions", ANNA, now=now)
    assert refused.value.code == "lane_paused"
    assert "Resume" in refused.value.message


def test_an_unknown_lane_is_not_found(begin: Begin, now: datetime) -> None:
    for verb in (pause_lane, resume_lane, sweep_now):
        with begin() as session, pytest.raises(NotFound):
            verb(session, "no-such-lane", ANNA, now=now)
    with begin() as session, pytest.raises(NotFound):
        set_workers(session, "no-such-lane", 2, ANNA, now=now)
