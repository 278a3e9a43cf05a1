"""F04: a worker that sleeps through its lease wakes up, and may change nothing."""

from __future__ import annotations

import re
import signal
import sqlite3
import time
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tasks.models import Attempt, AttemptOutcome
from tests.chaos.conftest import everywhere
from tests.chaos.harness import IN_FLIGHT, LEASE_SECONDS, Installation
from tests.chaos.tiers import TIER
from tests.support.hook_sink import Reply
from tests.support.processes import until
from tests.support.warm import WarmProcess


def _is_asleep(pid: int) -> bool:
    """Whether all threads of a process stand still: on a busy machine it takes a while.

    Until then one of them may still begin a transaction.
    """
    try:
        stats = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
    except FileNotFoundError:
        return False  # one has just ended
    # The state stands behind the name, which may hold anything.
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def _put_to_sleep(
    system: Installation, process: WarmProcess, patience: int = 20
) -> None:
    """Stop a process, but not in the middle of a transaction of SQLite's one writer."""
    process.send_signal(signal.SIGSTOP)
    until(lambda: _is_asleep(process.pid))
    if system.engine.dialect.name == "sqlite":
        probe = sqlite3.connect(str(system.engine.url.database), timeout=0.5)
        try:
            probe.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            process.send_signal(signal.SIGCONT)
            assert patience
            time.sleep(0.1)  # else it is stopped before it can end the transaction
            _put_to_sleep(system, process, patience - 1)
        finally:
            probe.close()


@everywhere
@pytest.mark.timeout(TIER.timeout)
def test_a_stale_writer_is_rejected(system: Installation) -> None:
    # The first answer comes late enough to find its receiver asleep, and its lease
    # is long enough to live until then.
    system.leases_take(4)
    system.hooks.answer("/hook", Reply(delay=3.0), Reply())
    system.producer.emit()
    (sleeper,) = system.start()
    until(lambda: system.hooks.requests and system.n_open() == 1, 60)
    _put_to_sleep(system, sleeper)
    try:
        system.start()
        until(lambda: len(system.hooks.requests) == 2, 60)
        until(lambda: system.n_open() == 0, 60)
    finally:
        sleeper.send_signal(signal.SIGCONT)
    until(lambda: re.search(r"'lost': [1-9]", system.log), 60)

    system.n_ambiguous += IN_FLIGHT
    system.drain()
    history = system.check()
    first = [a for a in history.attempts if a.number == 1 and a.outcome == "unknown"]
    assert first, "the late result must not overwrite what rescue had said"
    assert all(each.state == "succeeded" for each in history.executions)


@pytest.mark.timeout(TIER.timeout)
def test_workers_that_sleep_at_random_moments_do_no_harm(system: Installation) -> None:
    system.producer.emit(TIER.n_events)
    system.start(2)
    for _ in range(TIER.n_rounds):
        system.flows()
        sleeper = system.workers[0]
        sleeper.send_signal(signal.SIGSTOP)
        time.sleep(2.2 * LEASE_SECONDS)
        sleeper.send_signal(signal.SIGCONT)
        system.n_ambiguous += IN_FLIGHT
    system.drain(TIER.timeout)
    system.check()
    with system.begin() as session:
        assert not session.scalar(
            select(func.count()).where(Attempt.outcome == AttemptOutcome.FAILED)
        )
