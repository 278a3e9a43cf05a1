"""A lane's threads: they sweep when called, and their number follows the setting."""

from __future__ import annotations

import threading
import time

from tasks.models import LaneTrigger
from tasks.pool import LanePool
from tasks.registry import lane
from tests.support.processes import until


def test_a_call_is_swept_with_its_trigger() -> None:
    heard: list[LaneTrigger] = []
    pool = LanePool(lane("executions"), lambda t: bool(heard.append(t)), workers=1)
    pool.call(LaneTrigger.BOOT)
    until(lambda: heard == [LaneTrigger.BOOT])
    pool.close()
    assert pool.join(time.monotonic() + 5)


def test_a_full_batch_is_swept_again() -> None:
    rounds = iter([True, True, False])
    pool = LanePool(lane("executions"), lambda _t: next(rounds), workers=1)
    pool.call(LaneTrigger.CLOCK)
    until(lambda: pool.n_sweeps == 3)
    pool.close()


def test_calls_that_come_while_all_are_busy_are_kept_once_for_each_thread() -> None:
    gate = threading.Event()

    def wait(_trigger: LaneTrigger) -> bool:
        gate.wait(5)
        return False

    pool = LanePool(lane("executions"), wait, workers=2)
    for _ in range(2):
        pool.call(LaneTrigger.DOORBELL)
    time.sleep(0.1)  # both threads are inside now
    for _ in range(50):
        pool.call(LaneTrigger.DOORBELL)
    gate.set()
    until(lambda: pool.n_sweeps == 4)
    time.sleep(0.05)
    assert pool.n_sweeps == 4
    pool.close()


def test_the_number_of_threads_follows_the_setting() -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def count(_trigger: LaneTrigger) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return False

    pool = LanePool(lane("executions"), count, workers=1)
    pool.resize(4)
    assert pool.workers == 4
    for _ in range(40):
        pool.call(LaneTrigger.DOORBELL)
        time.sleep(0.002)
    assert most > 1
    pool.resize(1)
    time.sleep(0.2)
    most = 0
    for _ in range(20):
        pool.call(LaneTrigger.DOORBELL)
        time.sleep(0.005)
    time.sleep(0.1)
    assert most == 1
    pool.close()
    assert pool.join(time.monotonic() + 5)
