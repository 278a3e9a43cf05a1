"""F03 and F01 for outreach: workers die while they wake agents; each is woken once."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import (
    Agent,
    Contact,
    ContactSource,
    Engagement,
    Event,
    Rule,
    WakeState,
    new_id,
)
from tasks.outreach.agents import know_agent
from tasks.registry import lane
from tests.chaos.harness import CALM, Installation
from tests.chaos.tiers import IS_SHORT, TIER
from tests.support.outreach import AGENT, engagement
from tests.support.processes import until

N_DUE = 25
#: Several batches for each worker.
N_CROWD = 1_500 if IS_SHORT else 10_000
#: In the short tier threads race on SQLite, in ``tests/tasks/lanes``.
STACKS = ["postgresql+redis"] if IS_SHORT else ["postgresql+redis", "sqlite+sqlite"]


@pytest.mark.timeout(TIER.timeout)
def test_a_death_before_the_commit_loses_no_wake_up_and_repeats_none(
    system: Installation,
) -> None:
    with system.begin() as session:
        for number in range(N_DUE):
            address, now = f"g{number}@example.org", utcnow()
            engagement(session, system.tenant, address, next_action_at=now)
    (victim,) = system.start(CRASH_AT="in_contact_due")
    system.died(victim, in_flight=0)
    assert _told(system) == (N_DUE, 0)

    system.start(2)
    until(lambda: _told(system) == (0, N_DUE), 60)
    system.drain()
    assert _told(system) == (0, N_DUE)


@pytest.mark.parametrize("system", STACKS, indirect=True)
@pytest.mark.timeout(TIER.timeout)
def test_a_crowd_that_is_due_at_once_is_announced_once_each_though_a_worker_is_killed(
    system: Installation,
) -> None:
    with system.begin() as session:
        session.execute(update(Rule).values(enabled=False))
        due_at = _crowd(session, system, N_CROWD)
    victim, _ = system.start(2, **CALM)
    until(lambda: _told(system)[1] > 0, 60, 0.01)
    system.kill(victim)
    until(lambda: _told(system) == (0, N_CROWD), TIER.timeout, 0.1)
    system.drain()

    with system.begin() as session:
        rows = session.execute(select(Event.external_id, Event.created_at)).all()
        states = set(session.scalars(select(Engagement.wake_state)))
    assert states == {WakeState.ANNOUNCED}
    assert len({row.external_id for row in rows}) == len(rows) == N_CROWD
    lateness = sorted(row.created_at - due_at for row in rows)
    assert lateness[math.ceil(0.99 * N_CROWD) - 1] < lane("contact_due").every


def _crowd(session: Session, system: Installation, n: int) -> datetime:
    """Enrol many contacts that are due at one instant, and return it."""
    now = utcnow() - timedelta(seconds=1)
    agent: Agent = know_agent(session, system.tenant, AGENT, now)[0]
    stamps = {"created_at": now, "updated_at": now, "version": 1}
    contacts = [
        {
            "id": new_id(),
            "congregation_id": system.tenant,
            "address": f"g{number}@example.org",
            "display_name": "",
            "details": {},
            "source": ContactSource.API,
            **stamps,
        }
        for number in range(n)
    ]
    session.execute(insert(Contact), contacts)
    rows = [
        {
            "id": new_id(),
            "congregation_id": system.tenant,
            "agent_id": agent.id,
            "contact_id": contact["id"],
            "address": contact["address"],
            "stage": "",
            "details": {},
            "next_action_at": now,
            "wake_at": now,
            "wake_state": WakeState.ARMED,
            "revision": 1,
            "stop_on_reply": False,
            "outbound_count": 0,
            "inbound_count": 0,
            **stamps,
        }
        for contact in contacts
    ]
    session.execute(insert(Engagement), rows)
    return now


def _told(system: Installation) -> tuple[int, int]:
    """Return how many engagements are armed, and how many events there are."""
    armed = select(func.count()).where(Engagement.wake_state == WakeState.ARMED)
    events = select(func.count()).where(Event.type == "contact.due")
    with system.begin() as session:
        return session.scalar(armed) or 0, session.scalar(events) or 0
