"""F13: several workers, all of which dispatch and rescue, take nothing twice."""

from __future__ import annotations

import pytest

from tests.chaos import tiers
from tests.chaos.conftest import everywhere
from tests.chaos.harness import Installation
from tests.chaos.tiers import TIER


@everywhere
@pytest.mark.timeout(TIER.timeout)
def test_many_dispatchers_and_rescuers_do_everything_once(
    system: Installation,
) -> None:
    chance = tiers.chance("F13")
    # Only the death may repeat something: no lease of the living is to lapse.
    system.leases_take(10)
    system.start(3)
    planned = system.plan(TIER.n_jobs)
    system.flows()
    system.kill(chance.choice(system.workers))
    planned |= system.plan(TIER.n_jobs)
    system.drain(TIER.timeout)

    history = system.check(planned=planned)
    assert {job.state for job in history.jobs} == {"dispatched"}
    assert len(history.executions) == len(planned)
    assert "deadlock" not in system.log
    assert "database is locked" not in system.log
