"""Hosts that hang get few effects at once, and all that they want when they recover."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from tasks.executing.hosts import (
    HANGING,
    HANGING_MAX,
    LINGERING_MAX,
    LONGEST_WAIT,
    PATIENCE,
    Hosts,
)

MANY = 1_000
MOMENT = timedelta(milliseconds=1)


class _Clock:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def pass_by(self, time: timedelta) -> None:
        self.now += time.total_seconds()


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


def _call(own: Hosts, stack: ExitStack, n: int) -> None:
    for _ in range(n):
        stack.enter_context(own.calling("bad"))


def _n_free(own: Hosts, name: str = "bad") -> int:
    return own.waits([name] * MANY).count(None)


def test_what_is_quick_is_never_held_back(clock: _Clock) -> None:
    own = Hosts(clock.monotonic)
    with ExitStack() as stack:
        _call(own, stack, 100)
        assert _n_free(own) == MANY


def test_a_host_that_keeps_many_waiting_gets_no_more_and_others_do(
    clock: _Clock,
) -> None:
    own = Hosts(clock.monotonic)
    with ExitStack() as stack:
        _call(own, stack, LINGERING_MAX)
        clock.pass_by(PATIENCE + MOMENT)
        assert _n_free(own) == 0
        assert _n_free(own, "good") == MANY


def test_a_slow_host_that_keeps_few_waiting_is_not_held_back(clock: _Clock) -> None:
    own = Hosts(clock.monotonic)
    with ExitStack() as stack:
        _call(own, stack, LINGERING_MAX - 1)
        clock.pass_by(PATIENCE + MOMENT)
        assert _n_free(own) == MANY


def test_a_host_that_hangs_gets_a_few_at_once(clock: _Clock) -> None:
    own = Hosts(clock.monotonic)
    with ExitStack() as stack:
        _call(own, stack, 3)
        clock.pass_by(HANGING + MOMENT)
        assert _n_free(own) == HANGING_MAX - 3
    assert _n_free(own) == HANGING_MAX  # also when it has given up on those


def test_one_quick_answer_ends_it(clock: _Clock) -> None:
    own = Hosts(clock.monotonic)
    with own.calling("bad"):
        clock.pass_by(HANGING + MOMENT)
    assert _n_free(own) == HANGING_MAX
    with own.calling("bad"):
        clock.pass_by(MOMENT)
    assert _n_free(own) == MANY


def test_those_that_wait_come_one_after_the_other_and_within_bounds(
    clock: _Clock,
) -> None:
    own = Hosts(clock.monotonic)
    with ExitStack() as stack:
        _call(own, stack, HANGING_MAX)
        clock.pass_by(HANGING + MOMENT)
        waits: list[Any] = own.waits(["bad"] * MANY)
    assert waits[0] < waits[1] < waits[2]
    assert all(timedelta(0) < wait <= LONGEST_WAIT for wait in waits)


def test_an_effect_that_raises_is_under_way_no_more(clock: _Clock) -> None:
    own = Hosts(clock.monotonic)

    def fail() -> None:
        with own.calling("bad"):
            clock.pass_by(HANGING + MOMENT)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert _n_free(own) == HANGING_MAX
