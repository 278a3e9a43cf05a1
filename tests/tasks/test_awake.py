"""A clock that stands still while its process does not run."""

from __future__ import annotations

from datetime import timedelta

from tasks.awake import ASLEEP_SECONDS, BEAT_SECONDS, AwakeClock
from tasks.executing.hosts import HANGING, Hosts


class _Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_it_is_an_ordinary_clock_while_a_heart_beats() -> None:
    clock = _Clock()
    awake = AwakeClock(clock)
    awake.beat()
    began = awake()
    for _ in range(20):
        clock.now += BEAT_SECONDS
        awake.beat()
    assert awake() - began == 20 * BEAT_SECONDS


def test_without_a_heart_it_is_an_ordinary_clock_too() -> None:
    clock = _Clock()
    awake = AwakeClock(clock)
    began = awake()
    clock.now += 1_000
    assert awake() - began == 1_000


def test_time_asleep_does_not_count_whoever_looks_first() -> None:
    clock = _Clock()
    awake = AwakeClock(clock)
    awake.beat()
    began = awake()
    clock.now += 3_600
    assert awake() == began  # before the heart beats again
    awake.beat()
    clock.now += ASLEEP_SECONDS
    assert awake() - began == ASLEEP_SECONDS


def test_a_host_is_not_to_blame_for_the_time_in_which_we_were_stopped() -> None:
    clock = _Clock()
    awake = AwakeClock(clock)
    awake.beat()
    hosts = Hosts(awake)
    with hosts.calling("mail"):
        clock.now += 10 * HANGING.total_seconds()
    assert hosts.waits(["mail"] * 100) == [None] * 100


def test_a_host_that_hangs_while_we_are_awake_is_still_seen() -> None:
    clock = _Clock()
    awake = AwakeClock(clock)
    awake.beat()
    hosts = Hosts(awake)
    with hosts.calling("mail"):
        for _ in range(int(2 * HANGING / timedelta(seconds=BEAT_SECONDS))):
            clock.now += BEAT_SECONDS
            awake.beat()
    assert hosts.waits(["mail"] * 100).count(None) < 100
