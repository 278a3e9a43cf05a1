"""A few things at once, the next ones ready, and results as they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Generic, ParamSpec, Self, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

#: After the first result, how long to wait for others to settle together with it.
_LINGER = 0.005  # seconds
#: How often a waiting owner looks whether calls linger.
_LOOK = 0.25  # seconds
_FOR_EVER = float("inf")


class Window(Generic[T]):
    """Runs up to ``size`` calls at once in threads of its own; others wait in line.

    Args:
        patience: a call that takes longer lingers: it leaves its place to the next.
    """

    def __init__(self, size: int, *, patience: timedelta = timedelta.max) -> None:
        self._size = size
        self._patience = patience.total_seconds()
        self._lock = threading.Lock()
        self._began: dict[int, float] = {}  # monotonic, by thread
        self._calls: SimpleQueue[Callable[[], T] | None] = SimpleQueue()
        self._results: SimpleQueue[T | _Raised] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._n_open = 0  # calls whose result was not collected yet

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for what runs, so that nothing acts behind its owner's back."""
        if error is not None:
            self._forget_waiting()
        threads = self._current()
        for _ in threads:
            self._calls.put(None)
        for thread in threads:
            thread.join()

    @property
    def n_open(self) -> int:
        """How many calls run, wait to run, or wait to be collected."""
        return self._n_open

    @property
    def n_lingering(self) -> int:
        """How many calls run for longer than their patience."""
        latest = time.monotonic() - self._patience
        with self._lock:
            return sum(began < latest for began in self._began.values())

    def submit(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> None:
        """Start ``call`` in a thread as soon as one is free."""
        self._n_open += 1
        self._calls.put(lambda: call(*args, **kwargs))
        self._staff()

    def finished(self, timeout: float | None = None) -> list[T]:
        """Wait for a result and return it with others that come right behind it.

        Returns nothing when nothing runs, or when nothing came within ``timeout``
        seconds.  What a call raised is raised here.
        """
        deadline = time.monotonic() + (timeout if timeout is not None else _FOR_EVER)
        found: list[T] = []
        while self._n_open and not found and time.monotonic() < deadline:
            self._staff()
            found += self._collected(min(deadline, time.monotonic() + _LOOK))
        deadline = time.monotonic() + _LINGER
        while found and self._n_open and time.monotonic() < deadline:
            found += self._collected(deadline)
        return found

    def _collected(self, deadline: float) -> list[T]:
        try:
            return [self._collect(max(0.0, deadline - time.monotonic()))]
        except Empty:
            return []

    def _staff(self) -> None:
        """Have a thread for each call that may run."""
        n_lingering = self.n_lingering
        while len(self._current()) - n_lingering < min(
            self._size, self._n_open - n_lingering
        ):
            thread = threading.Thread(target=self._work, name="act")
            with self._lock:
                self._threads.append(thread)
            thread.start()

    def _current(self) -> list[threading.Thread]:
        with self._lock:
            return list(self._threads)

    def _collect(self, timeout: float) -> T:
        result = self._results.get(timeout=timeout)
        self._n_open -= 1
        if isinstance(result, _Raised):
            raise result.error
        return result

    def _work(self) -> None:
        me = threading.current_thread()
        while (call := self._calls.get()) is not None:
            result: T | _Raised
            started = time.monotonic()
            with self._lock:
                self._began[threading.get_ident()] = started
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001  # raised by its collector
                result = _Raised(error)
            with self._lock:
                del self._began[threading.get_ident()]
                has_left = time.monotonic() - started > self._patience
                if has_left:  # somebody else has taken its place
                    self._threads.remove(me)
            self._results.put(result)
            if has_left:
                return

    def _forget_waiting(self) -> None:
        while True:
            try:
                self._calls.get_nowait()
            except Empty:
                return


class _Raised:
    """What a call raised, on its way to who collects."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
