"""F01: kill -9 of workers in the middle of their work, and nothing is lost."""

from __future__ import annotations

import time

import pytest

from tests.chaos import tiers
from tests.chaos.conftest import everywhere
from tests.chaos.harness import LEASE_SECONDS, N_RULES, Installation
from tests.chaos.tiers import TIER
from tests.support.processes import until

#: Lease + sweep + poll, and what a busy machine may add.
RECOVERY_SECONDS = LEASE_SECONDS + 1 + 1 + 15


@everywhere
@pytest.mark.timeout(TIER.timeout)
def test_killed_workers_lose_nothing(system: Installation) -> None:
    chance = tiers.chance("F01")
    system.start(TIER.n_workers)
    for _ in range(TIER.n_kills):
        system.producer.emit(TIER.n_kill_events // TIER.n_kills)
        system.flows()
        time.sleep(chance.uniform(0.0, 0.1))
        system.kill(system.someone(chance))
        system.start()
    system.drain(TIER.timeout)
    history = system.check()
    assert len(history.executions) >= N_RULES * TIER.n_kills
    n_unknown = sum(each.outcome == "unknown" for each in history.attempts)
    n_crashed = sum(each.outcome == "crashed" for each in history.attempts)
    print(f"{n_crashed} rescued before their effect, {n_unknown} after it began")  # noqa: T201


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
