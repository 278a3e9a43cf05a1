"""F01: kill -9 of workers in the middle of their work, and nothing is lost."""

from __future__ import annotations

import time

import pytest

from tests.chaos import tiers
from tests.chaos.conftest import everywhere
from tests.chaos.harness import LEASE_SECONDS, Installation
from tests.chaos.tiers import TIER
from tests.support.processes import until

#: Lease + sweep + poll, and what a busy machine may add.
RECOVERY_SECONDS = LEASE_SECONDS + 1 + 1 + 15


@everywhere
@pytest.mark.timeout(TIER.timeout)
def test_killed_workers_lose_nothing(system: Installation) -> None:
    chance = tiers.chance("F01")
    system.producer.emit(TIER.n_events)
    system.start(TIER.n_workers)
    for _ in range(TIER.n_kills):
        system.flows()
        time.sleep(chance.uniform(0.0, 0.3))
        system.kill(chance.choice(system.workers))
        system.start()
    system.drain(TIER.timeout)
    system.check()


@pytest.mark.timeout(TIER.timeout)
def test_a_killed_workers_rows_are_soon_at_work_again(system: Installation) -> None:
    system.mails.hang("rcpt", times=1)
    system.producer.emit()
    (first,) = system.start()
    until(lambda: system.hooks.requests and system.mails.n_connections, 60)
    (second,) = system.start()
    system.ready(second)
    system.kill(first)
    killed_at = time.monotonic()
    until(lambda: system.mails.mails, RECOVERY_SECONDS)
    assert time.monotonic() - killed_at < RECOVERY_SECONDS
    system.drain()
    system.check()
