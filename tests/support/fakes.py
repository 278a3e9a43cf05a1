"""Effects that stay in the house, and a bench to sweep with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Effects, Envelope, Outcome
from tasks.clock import Clock
from tasks.lane import Bench


class FakePost:
    """A mailer and poster that remembers, and answers what it was told to."""

    def __init__(self, answer: Callable[[Envelope], Outcome] | Outcome | None = None):
        self._answer = answer or Done(250)
        self._lock = threading.Lock()
        self.sent: list[tuple[Envelope, Mapping[str, Any]]] = []

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        with self._lock:
            self.sent.append((envelope, message))
        return self._answer(envelope) if callable(self._answer) else self._answer

    post = send


def bench(
    make_session: sessionmaker[Session], clock: Clock, post: FakePost, **values: Any
) -> Bench:
    """Return a bench with a fake way out of the house."""
    return Bench(
        begin=make_session.begin, clock=clock, effects=Effects(post, post), **values
    )
