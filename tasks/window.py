"""A few things at once, the next ones ready, and results as they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Generic, ParamSpec, Self, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

#: After the first result, how long to wait for others to settle together with it.
_LINGER = 0.005  # seconds


class Window(Generic[T]):
    """Runs up to ``size`` calls at once in threads of its own; others wait in line."""

    def __init__(self, size: int) -> None:
        self._size = size
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
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    @property
    def n_open(self) -> int:
        """How many calls run, wait to run, or wait to be collected."""
        return self._n_open

    def submit(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> None:
        """Start ``call`` in a thread as soon as one is free."""
        self._n_open += 1
        self._calls.put(lambda: call(*args, **kwargs))
        if len(self._threads) < min(self._size, self._n_open):
            thread = threading.Thread(target=self._work, name="act")
            self._threads.append(thread)
            thread.start()

    def finished(self) -> list[T]:
        """Wait for a result and return it with others that come right behind it.

        Returns nothing at once when nothing runs.  What a call raised is raised here.
        """
        if not self._n_open:
            return []
        found = [self._collect(None)]
        deadline = time.monotonic() + _LINGER
        while self._n_open:
            try:
                found.append(self._collect(max(0.0, deadline - time.monotonic())))
            except Empty:
                break
        return found

    def _collect(self, timeout: float | None) -> T:
        result = self._results.get(timeout=timeout)
        self._n_open -= 1
        if isinstance(result, _Raised):
            raise result.error
        return result

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            result: T | _Raised
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001  # raised by its collector
                result = _Raised(error)
            self._results.put(result)

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
