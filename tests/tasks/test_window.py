"""The window: a few calls at once, the next in line, results as they come."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from tasks.window import Window


def _collect(window: Window[int]) -> list[int]:
    found: list[int] = []
    while window.n_open:
        found += window.finished()
    return found


def test_every_call_gives_its_result_once() -> None:
    with Window[int](3) as window:
        for number in range(50):
            window.submit(lambda n: n * n, number)
        found = _collect(window)
    assert sorted(found) == [n * n for n in range(50)]
    assert window.finished() == []


def test_no_more_than_its_size_run_at_once() -> None:
    running: list[int] = []
    peaks: list[int] = []
    gate = threading.Barrier(2, timeout=10)

    def call(number: int) -> int:
        running.append(number)
        gate.wait()
        peaks.append(len(running))
        gate.wait()
        running.remove(number)
        return number

    with Window[int](2) as window:
        for number in range(8):
            window.submit(call, number)
        assert len(_collect(window)) == 8
    assert max(peaks) <= 2


def test_one_that_hangs_does_not_hold_up_the_results_of_others() -> None:
    hangs = threading.Event()
    with Window[str](2) as window:
        window.submit(lambda: "slow" if hangs.wait(10) else "given up")
        for _ in range(5):
            window.submit(lambda: "quick")
        quick: list[str] = []
        while len(quick) < 5:
            quick += window.finished()
        assert quick == ["quick"] * 5
        assert window.n_open == 1
        hangs.set()
        assert window.finished() == ["slow"]


def test_what_a_call_raised_is_raised_where_it_is_collected() -> None:
    with Window[float](1) as window:
        window.submit(lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            window.finished()


def test_what_waits_in_line_is_dropped_when_its_owner_fails() -> None:
    begun: list[int] = []
    gate = threading.Event()

    def call(number: int) -> None:
        begun.append(number)
        gate.wait(10)

    def own() -> None:
        with Window[None](1) as window:
            for number in range(5):
                window.submit(call, number)
            while not begun:
                pass
            threading.Timer(0.05, gate.set).start()
            raise LookupError

    with pytest.raises(LookupError):
        own()
    assert begun == [0]


def test_what_lingers_leaves_its_place_to_the_next() -> None:
    hangs = threading.Event()
    with Window[str](1, patience=timedelta(milliseconds=20)) as window:
        window.submit(lambda: "slow" if hangs.wait(30) else "given up")
        window.submit(lambda: "quick")
        assert window.finished() == ["quick"]
        assert (window.n_open, window.n_lingering) == (1, 1)
        assert window.finished(timeout=0.01) == []
        hangs.set()
        assert window.finished() == ["slow"]
        assert window.n_lingering == 0
