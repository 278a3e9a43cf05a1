"""F11: wall clocks of machines jump; with PostgreSQL only the database's counts."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from tasks.clock import utcnow
from tasks.models import JobState, Rule, ScheduledJob
from tests.chaos import tiers
from tests.chaos.harness import CALM, Installation
from tests.chaos.tiers import TIER
from tests.support import factories
from tests.support.processes import ROOT, until
from tests.support.servers import free_port

HOUR, YEAR = 3_600, 31_536_000
JUMPS = (HOUR, -HOUR, 30, -30, 10 * YEAR, 0)


class _Machine:
    """A worker and the wall clock of its machine."""

    def __init__(self, system: Installation, name: str) -> None:
        self._told = system.folder / f"{name}.skew"
        self.jump(0)
        port = free_port()
        with (system.folder / "worker.log").open("ab") as output:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.chaos.skewed_worker"),
                    *(str(self._told), "worker"),
                ],
                env=system.environ | CALM | {"HEALTH_PORT": str(port)},
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        system.ports[self.process.pid] = port
        system.workers.append(self.process)

    def jump(self, seconds: int) -> None:
        # Replaced whole, so that a reader never finds half of it.
        new = Path(f"{self._told}.new")
        new.write_text(str(seconds))
        new.replace(self._told)


@pytest.fixture
def machines(system: Installation) -> tuple[_Machine, _Machine]:
    """Run two machines, ready to work."""
    both = (_Machine(system, "one"), _Machine(system, "two"))
    for each in both:
        system.ready(each.process)
    return both


def _plan_in_an_hour(system: Installation) -> UUID:
    """Add a job that is due in an hour by the database's clock."""
    due_at = utcnow() + timedelta(hours=1)
    with system.begin() as session:
        rule = (
            session.query(Rule)
            .where(Rule.trigger_type == "time.before_recording")
            .one()
        )
        return factories.job(
            session,
            rule,
            due_at=due_at,
            run_at=due_at,
            reference_at=due_at + timedelta(hours=24),
        ).id


@pytest.mark.timeout(TIER.timeout)
def test_clocks_that_jump_neither_hurry_nor_repeat_anything(
    system: Installation, machines: tuple[_Machine, _Machine]
) -> None:
    chance = tiers.chance("F11")
    later = _plan_in_an_hour(system)
    for _ in range(TIER.n_rounds):
        for seconds in chance.sample(JUMPS, len(JUMPS)):
            system.producer.emit(3)
            system.flows()
            chance.choice(machines).jump(seconds)
    until(lambda: system.n_open() == 1, 60, 0.1)  # the job of the next hour
    time.sleep(2.0)  # two polls
    with system.begin() as session:
        job = session.get_one(ScheduledJob, later)
        assert job.state is JobState.PENDING
        job.move_to(JobState.CANCELLED, at=utcnow(), reason="operator")
    system.drain()

    # No repeats are explained: no lease was taken for lapsed.
    assert system.n_ambiguous == 0
    history = system.check()
    assert {each.attempt for each in history.executions} == {1}
