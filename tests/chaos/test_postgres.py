"""F07: PostgreSQL restarts as after a crash, and cuts every connection."""

from __future__ import annotations

import threading

import pytest

from tests.chaos import tiers
from tests.chaos.harness import IN_FLIGHT, Installation
from tests.chaos.servers import OwnPostgres
from tests.chaos.tiers import TIER


@pytest.mark.timeout(TIER.timeout)
def test_a_database_that_fails_loses_nothing_acknowledged(
    shaken: Installation, database: OwnPostgres
) -> None:
    chance = tiers.chance("F07")
    shaken.start(2)
    for process in shaken.workers:
        shaken.ready(process)
    for _ in range(TIER.n_rounds):
        for strike in chance.sample((database.restart, database.cut_all), 2):
            n = max(1, TIER.n_events // TIER.n_rounds // 2)
            reporting = threading.Thread(target=shaken.producer.emit, args=(n,))
            reporting.start()
            shaken.flows()
            strike()
            # What was sent, and could not be written down, goes out again.
            shaken.n_ambiguous += 2 * IN_FLIGHT
            reporting.join()
    assert all(process.poll() is None for process in shaken.workers)
    shaken.drain(TIER.timeout)
    history = shaken.check()
    assert {each.state for each in history.executions} == {"succeeded"}
