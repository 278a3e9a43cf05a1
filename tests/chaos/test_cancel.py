"""Operators cancel while workers race them: what is cancelled is not sent."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import select

from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models import Execution, ExecutionState
from tasks.operations.audit import Actor
from tasks.operations.executions import cancel_execution
from tests.chaos import tiers
from tests.chaos.conftest import everywhere
from tests.chaos.harness import CALM, Installation
from tests.chaos.tiers import TIER

ACTOR = Actor("anna@example.org")


def _cancel_one(system: Installation, index: int) -> None:
    """Cancel a pending execution, unless a worker was quicker."""
    pending = (
        select(Execution.id)
        .where(Execution.state == ExecutionState.PENDING)
        .order_by(Execution.id)
        .offset(index)
        .limit(1)
    )
    with system.begin() as session:
        id_ = session.scalar(pending)
    if id_ is None:
        return
    try:
        with system.begin() as session:
            cancel_execution(session, id_, ACTOR, now=utcnow())
    except Conflict:
        return
    system.cancelled[str(id_)] = time.time()


@everywhere
@pytest.mark.timeout(TIER.timeout)
def test_nothing_is_sent_after_its_cancellation(system: Installation) -> None:
    chance = tiers.chance("cancel")
    system.producer.emit(TIER.n_events)
    system.start(2, **CALM)
    for _ in range(5):
        _cancel_one(system, 0)  # before any worker is there
    system.flows()
    for _ in range(TIER.n_events):
        _cancel_one(system, chance.randrange(3))
    system.drain(TIER.timeout)

    history = system.check()
    arrived = {each.execution for each in history.deliveries}
    assert system.cancelled
    assert not arrived & set(system.cancelled)
