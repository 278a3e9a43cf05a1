"""A rule asks for a sweep: once, recorded, and of no lane that runs executions."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks import doorbell
from tasks.automation.actions.base import (
    Done,
    Effects,
    Envelope,
    GiveUp,
    Outcome,
    TryAgain,
)
from tasks.automation.actions.start_lane import StartLaneAction
from tasks.models import LaneRun, LaneTrigger, Reason
from tasks.operations.audit import SYSTEM
from tasks.operations.lane_starts import LaneStarter, startable
from tasks.operations.lanes import pause_lane, sweep_now
from tasks.registry import lane
from tasks.runner import run_lane
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ENVELOPE = Envelope(UUID(int=7), UUID(int=1), None)
OTHER = Envelope(UUID(int=8), UUID(int=1), None)


@pytest.fixture
def starter(make_session: Sessions) -> LaneStarter:
    return LaneStarter(lambda: NOW)


def start(
    starter: LaneStarter, make_session: Sessions, lane: str, envelope: Envelope
) -> Outcome:
    with make_session.begin() as session:
        return starter.start(session, lane, envelope)


def runs(make_session: Sessions) -> list[LaneRun]:
    with make_session() as session:
        return list(session.scalars(select(LaneRun).order_by(LaneRun.id)))


def test_a_sweep_is_asked_for_and_the_bell_rings(
    make_session: Sessions, starter: LaneStarter, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    monkeypatch.setattr(doorbell, "_listeners", [heard.append])

    assert isinstance(start(starter, make_session, "janitor", ENVELOPE), Done)

    [run] = runs(make_session)
    assert (run.lane, run.trigger, run.started_at) == (
        "janitor",
        LaneTrigger.RULE,
        None,
    )
    assert run.requested_by == f"execution {ENVELOPE.execution_id}"
    assert heard == ["janitor"]


def test_the_lane_takes_the_request_over(
    make_session: Sessions, starter: LaneStarter
) -> None:
    start(starter, make_session, "janitor", ENVELOPE)

    run_lane(
        lane("janitor"),
        bench(make_session, lambda: NOW, FakePost()),
        LaneTrigger.DOORBELL,
    )

    [run] = runs(make_session)
    assert run.trigger is LaneTrigger.RULE
    assert run.ended_at == NOW


def test_another_attempt_asks_for_nothing_more(
    make_session: Sessions, starter: LaneStarter
) -> None:
    start(starter, make_session, "janitor", ENVELOPE)
    with make_session.begin() as session:
        session.get_one(LaneRun, ENVELOPE.execution_id).started_at = NOW

    assert isinstance(start(starter, make_session, "janitor", ENVELOPE), Done)
    assert len(runs(make_session)) == 1


def test_many_requests_at_once_are_one_sweep(
    make_session: Sessions, starter: LaneStarter
) -> None:
    with make_session.begin() as session:
        sweep_now(session, "janitor", SYSTEM, now=NOW)

    assert isinstance(start(starter, make_session, "janitor", ENVELOPE), Done)
    assert isinstance(start(starter, make_session, "janitor", OTHER), Done)
    assert len(runs(make_session)) == 1


def test_a_paused_lane_is_asked_again_later(
    make_session: Sessions, starter: LaneStarter
) -> None:
    with make_session.begin() as session:
        pause_lane(session, "janitor", SYSTEM, now=NOW)

    assert start(starter, make_session, "janitor", ENVELOPE) == TryAgain(
        "The lane Janitor is paused."
    )
    assert runs(make_session) == []


@pytest.mark.parametrize("name", ["executions", "scheduled_jobs", "rescue", "nothing"])
def test_no_rule_may_feed_itself(
    make_session: Sessions, starter: LaneStarter, name: str
) -> None:
    outcome = start(starter, make_session, name, ENVELOPE)

    assert isinstance(outcome, GiveUp)
    assert outcome.reason is Reason.BAD_MESSAGE
    assert name not in startable()


def test_a_rule_can_only_be_saved_with_a_lane_that_allows_it() -> None:
    action = StartLaneAction()
    action.configure(startable())

    assert action.check({"lane": "janitor"}, "booking.confirmed") == {}
    assert (
        "Janitor" in action.check({"lane": "executions"}, "booking.confirmed")["lane"]
    )
    assert "lane" in action.check({}, "booking.confirmed")
    assert action.recipient({"lane": "janitor"}, {}) == "janitor"


def test_a_worker_without_a_way_says_so(make_session: Sessions) -> None:
    post = FakePost()
    deeds = [({"lane": "janitor"}, ENVELOPE)]
    with make_session.begin() as session:
        told = StartLaneAction().act_within(
            session, deeds, Effects(mailer=post, poster=post)
        )
    assert [type(each) for each in told] == [TryAgain]
