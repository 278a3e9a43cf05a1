"""F03 for outreach: a worker dies between the claim and the commit of a batch."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from tasks.clock import utcnow
from tasks.models import Engagement, Event, WakeState
from tests.chaos.harness import Installation
from tests.chaos.tiers import TIER
from tests.support.outreach import engagement
from tests.support.processes import until

N_DUE = 25


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


def _told(system: Installation) -> tuple[int, int]:
    """Return how many engagements are armed, and how many events there are."""
    armed = select(func.count()).where(Engagement.wake_state == WakeState.ARMED)
    events = select(func.count()).where(Event.type == "contact.due")
    with system.begin() as session:
        return session.scalar(armed) or 0, session.scalar(events) or 0
