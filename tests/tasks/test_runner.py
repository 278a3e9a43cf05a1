"""Running a lane once: the pause switch, the row it leaves, the errors it survives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lane import Backlog, Bench, Lane
from tasks.models import (
    Congregation,
    LaneRun,
    LaneSetting,
    LaneTrigger,
    Measure,
    new_id,
)
from tasks.runner import run_lane
from tests.support.counted import counted
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]


@dataclass(frozen=True)
class _Swept:
    moved: tuple[UUID, ...] = ()
    is_full: bool = False


def _idle(_bench: Bench, _limit: int) -> _Swept:
    return _Swept()


def _busy(_bench: Bench, _limit: int) -> _Swept:
    return _Swept(moved=(new_id(), new_id()))


def _broken(_bench: Bench, _limit: int) -> _Swept:
    raise OSError("disk on fire")


LANE = Lane(
    name="executions",
    title="Test",
    purpose="Tests.",
    sweep=_busy,
    backlog=lambda _session, _now: Backlog(0, None),
    every=timedelta(seconds=1),
    batch=10,
)


def _noon() -> datetime:
    return NOW


def _runs(make_session: Sessions) -> list[LaneRun]:
    with make_session() as session:
        return list(session.scalars(select(LaneRun)))


def test_a_sweep_that_moved_something_leaves_a_row(make_session: Sessions) -> None:
    run_lane(LANE, bench(make_session, _noon, FakePost()), LaneTrigger.DOORBELL)
    [run] = _runs(make_session)
    assert (run.trigger, run.moved, run.n_moved) == (
        LaneTrigger.DOORBELL,
        {"moved": 2},
        2,
    )
    assert run.ended_at == NOW


def test_what_failed_for_one_congregation_stands_beside_what_was_moved(
    make_session: Sessions,
) -> None:
    @dataclass(frozen=True)
    class Troubled(_Swept):
        trouble: str = "Congregation 7 failed."

    lane = replace(LANE, sweep=lambda _bench, _limit: Troubled(moved=(new_id(),)))
    run_lane(lane, bench(make_session, _noon, FakePost()), LaneTrigger.CLOCK)
    [run] = _runs(make_session)
    assert (run.n_moved, run.error) == (1, "Congregation 7 failed.")


def test_a_sweep_that_found_nothing_leaves_none(make_session: Sessions) -> None:
    idle = replace(LANE, sweep=_idle)
    assert run_lane(idle, bench(make_session, _noon, FakePost()), LaneTrigger.CLOCK)
    assert _runs(make_session) == []


def test_an_error_is_recorded_and_not_raised(
    make_session: Sessions, caplog: pytest.LogCaptureFixture
) -> None:
    broken = replace(LANE, sweep=_broken)
    run_lane(broken, bench(make_session, _noon, FakePost()), LaneTrigger.CLOCK)
    assert counted(make_session, "executions") == {Measure.RETRIED: 1}
    [run] = _runs(make_session)
    assert run.error == "OSError: disk on fire"
    assert "lane.failed" in caplog.messages


def test_what_is_recorded_of_a_databases_error_has_no_values(
    make_session: Sessions, caplog: pytest.LogCaptureFixture
) -> None:
    """Rows of all tenants may be in a statement; a lane's page is everybody's."""

    def breaks(a: Bench, _limit: int) -> _Swept:
        with a.begin() as session:
            congregation = {"slug": "zoe-example", "name": "zoe@example.org"}
            for _ in range(2):
                session.add(Congregation(**congregation))
                session.flush()
        raise AssertionError

    broken = replace(LANE, sweep=breaks)
    run_lane(broken, bench(make_session, _noon, FakePost()), LaneTrigger.CLOCK)
    [run] = _runs(make_session)
    assert (run.error or "").startswith(("IntegrityError: ", "UniqueViolation: "))
    assert "zoe" not in (run.error or "")
    assert "zoe@example.org" not in caplog.text


def test_a_paused_lane_does_nothing(make_session: Sessions) -> None:
    with make_session.begin() as session:
        session.add(LaneSetting(lane="executions", is_paused=True))
    ran = run_lane(LANE, bench(make_session, _noon, FakePost()), LaneTrigger.CLOCK)
    assert ran is None
    assert _runs(make_session) == []


def test_a_sweep_that_was_asked_for_is_told_of_even_when_it_found_nothing(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        session.add(
            LaneRun(
                lane="executions", trigger=LaneTrigger.OPERATOR, requested_by="ines"
            )
        )
    idle = replace(LANE, sweep=_idle)
    run_lane(idle, bench(make_session, _noon, FakePost()), LaneTrigger.CLOCK)
    [run] = _runs(make_session)
    assert run.requested_by == "ines"
    assert run.trigger is LaneTrigger.OPERATOR
    assert run.ended_at == NOW


def test_a_full_batch_is_swept_again_at_once(make_session: Sessions) -> None:
    rounds = iter([True, True, False])

    def draining(_bench: Bench, _limit: int) -> _Swept:
        return _Swept(moved=(new_id(),), is_full=next(rounds))

    lane = replace(LANE, sweep=draining)
    ran = run_lane(lane, bench(make_session, _noon, FakePost()), LaneTrigger.CLOCK)
    assert ran is not None
    assert ran.moved["moved"] == 3
