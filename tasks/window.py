"""A few things at once, and as each ends, room for the next."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Generic, ParamSpec, Self, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

#: After the first result, how long to wait for others to settle together with it.
_LINGER = 0.005  # seconds


class Window(Generic[T]):
    """Runs up to ``size`` calls at once in threads of its own."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="act")
        self._running: set[Future[T]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for what runs, so that nothing acts behind its owner's back."""
        self._pool.shutdown(wait=True)

    @property
    def free(self) -> int:
        """How many more calls may start now."""
        return self._size - len(self._running)

    @property
    def is_busy(self) -> bool:
        """Whether any call has not been collected yet."""
        return bool(self._running)

    def submit(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> None:
        """Start ``call`` in a thread; there must be room."""
        self._running.add(self._pool.submit(call, *args, **kwargs))

    def finished(self) -> list[T]:
        """Wait for a result and return it with all others that are there by then.

        Returns nothing at once when nothing runs.  What a call raised is raised here.
        """
        if not self._running:
            return []
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        if len(done) < len(self._running):
            done, _ = wait(self._running, timeout=_LINGER)
        self._running -= done
        return [future.result() for future in done]
