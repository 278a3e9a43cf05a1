"""F22: a worker that is asked to stop finishes, gives back the rest, and is gone."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import func, or_, select

from tasks.models import Execution, ExecutionState
from tests.chaos.conftest import everywhere
from tests.chaos.harness import CALM, IN_FLIGHT, Installation
from tests.chaos.tiers import TIER
from tests.support.hook_sink import Reply
from tests.support.processes import until

#: What is promised, and what a busy machine may add.
STOP_SECONDS = 25 + 10


def _n_held(system: Installation) -> int:
    with system.begin() as session:
        return session.scalar(
            select(func.count()).where(
                or_(
                    Execution.state == ExecutionState.RUNNING,
                    Execution.lease_until.is_not(None),
                    Execution.worker.is_not(None),
                )
            )
        )


@everywhere
@pytest.mark.timeout(TIER.timeout)
def test_a_stopped_worker_leaves_no_lease(system: Installation) -> None:
    system.producer.emit(TIER.n_events)
    for _ in range(TIER.n_rounds):
        (worker,) = system.start(**CALM)
        system.ready(worker)
        system.flows()
        asked_at = time.monotonic()
        system.stop(worker, STOP_SECONDS)
        assert time.monotonic() - asked_at < STOP_SECONDS
        assert _n_held(system) == 0
    system.start(**CALM)
    system.drain(TIER.timeout)

    history = system.check()
    assert {each.state for each in history.executions} == {"succeeded"}
    # What was given back is no failure and no crash: it cost nobody an attempt.
    assert {a.outcome for a in history.attempts} <= {"succeeded", "released"}


@pytest.mark.timeout(TIER.timeout)
def test_what_does_not_end_in_time_is_given_back(system: Installation) -> None:
    system.hooks.answer("/hook", Reply(kind="hang"), Reply())
    system.producer.emit(3)
    (worker,) = system.start(SHUTDOWN_SECONDS="1", **CALM)
    system.ready(worker)
    until(lambda: len(system.hooks.requests) == 3, 60)
    system.stop(worker, STOP_SECONDS)
    assert _n_held(system) == 0
    system.n_ambiguous += IN_FLIGHT

    system.start(**CALM)
    system.drain()
    history = system.check()
    assert {each.state for each in history.executions} == {"succeeded"}
    assert "released" in {a.outcome for a in history.attempts}
