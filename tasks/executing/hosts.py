"""Hosts that hang: few effects at once go to them, so that they hold up nobody else.

A host is where an effect goes: a webhook's host and port, or the one mail server.  Each
process counts for itself, in memory: what it learns is forgotten when it ends.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

#: An effect that takes longer no longer counts as work of its sweep.
PATIENCE: Final = timedelta(seconds=1)
#: So many effects beyond ``PATIENCE`` may be under way to one host.
LINGERING_MAX: Final = 32
#: A host whose effects take longer hangs, until one is quicker.
HANGING: Final = timedelta(seconds=5)
#: So many effects may be under way to a host that hangs.
HANGING_MAX: Final = 8
#: What has to wait for a host asks again within this time.
LONGEST_WAIT: Final = timedelta(minutes=2)


def host_of(action: str, message: Mapping[str, Any]) -> str:
    """Return where a message goes.

    >>> host_of("webhook", {"url": "https://example.org:8443/hook"})
    'example.org:8443'
    >>> host_of("email", {"to": "anna@example.org"})
    'email'
    """
    return urlsplit(str(message.get("url") or "")).netloc or action


@dataclass(slots=True)
class _Host:
    began: dict[int, float] = field(default_factory=dict)  # monotonic, by call
    seconds: float = 0.0  # what the last effect that ended took
    turn_at: float = 0.0  # monotonic; when the last one that waits has its turn

    def n_beyond(self, limit: timedelta, now: float) -> int:
        return sum(now - at > limit.total_seconds() for at in self.began.values())

    def hangs(self, now: float) -> bool:
        longest = HANGING.total_seconds()
        return self.seconds > longest or bool(self.n_beyond(HANGING, now))

    def room(self, now: float) -> int | None:
        """Return how many more may begin; None: any number."""
        if self.hangs(now):
            return max(0, HANGING_MAX - len(self.began))
        return None if self.n_beyond(PATIENCE, now) < LINGERING_MAX else 0

    def wait(self, now: float) -> timedelta:
        """Return how long the next has to wait: each a little longer than the last."""
        gap = max(self.seconds, HANGING.total_seconds()) / HANGING_MAX
        self.turn_at = max(self.turn_at, now) + gap
        longest = LONGEST_WAIT.total_seconds()
        if self.turn_at - now <= longest:
            return timedelta(seconds=self.turn_at - now)
        # Not all at once, when their number is not known to end.
        return timedelta(seconds=longest * random.uniform(0.5, 1.0))  # noqa: S311  # no secret


class Hosts:
    """The effects under way in this process, by host; safe for several threads."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._hosts: dict[str, _Host] = {}
        self._n_calls = 0

    @contextmanager
    def calling(self, name: str) -> Iterator[None]:
        """Count one effect as under way to a host until the block ends."""
        started = self._monotonic()
        with self._lock:
            self._n_calls += 1
            call = self._n_calls
            self._hosts.setdefault(name, _Host()).began[call] = started
        try:
            yield
        finally:
            self._ended(name, call)

    def waits(self, names: Sequence[str]) -> list[timedelta | None]:
        """Return of effects that want to begin how long each has to wait; None: not."""
        now = self._monotonic()
        begun: Counter[str] = Counter()
        answers: list[timedelta | None] = []
        with self._lock:
            for name in names:
                host = self._hosts.get(name)
                room = None if host is None else host.room(now)
                if host is None or room is None or begun[name] < room:
                    begun[name] += 1
                    answers.append(None)
                else:
                    answers.append(host.wait(now))
        return answers

    def _ended(self, name: str, call: int) -> None:
        with self._lock:
            host = self._hosts[name]
            host.seconds = self._monotonic() - host.began.pop(call)
            if not host.began and host.seconds <= HANGING.total_seconds():
                del self._hosts[name]  # nothing to remember of it
