"""F07: PostgreSQL restarts as after a crash, and cuts every connection."""

from __future__ import annotations

import threading
import time

import pytest

from tests.chaos import tiers
from tests.chaos.harness import IN_FLIGHT, Installation
from tests.chaos.servers import OwnPostgres
from tests.chaos.tiers import TIER
from tests.support.hook_sink import Reply
from tests.support.processes import until


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
            # A lease that lapsed while the database was away is taken back.
            shaken.n_ambiguous += 2 * IN_FLIGHT
            reporting.join()
            shaken.engine.dispose()  # what the test itself had open was cut as well
    assert all(process.poll() is None for process in shaken.workers)
    shaken.drain(TIER.timeout)
    history = shaken.check()
    assert {each.state for each in history.executions} == {"succeeded"}


@pytest.mark.timeout(TIER.timeout)
def test_what_was_sent_while_the_database_restarts_is_not_sent_again(
    shaken: Installation, database: OwnPostgres
) -> None:
    shaken.hooks.answer("/hook", Reply(delay=1.0))
    shaken.producer.emit(6)
    # A lease that outlives the outage, however slow the machine is.
    (worker,) = shaken.start(LEASE_SECONDS="60")
    for strike in (database.restart, database.cut_all):
        until(lambda: shaken.n_arrived() > 6, 60)
        strike()
        shaken.engine.dispose()
    shaken.ready(worker)
    until(lambda: shaken.n_open() == 0, 60, 0.1)
    time.sleep(1.0)
    assert shaken.n_arrived() == 12
    shaken.drain()
    history = shaken.check()
    assert {each.state for each in history.executions} == {"succeeded"}
    assert {each.attempt for each in history.executions} == {1}
