"""A producer that believes only what was committed, and writes down what it believes.

Its log is one of the three outside of the system; mails and webhooks are the others.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.db import sessions

#: How long an event is reported again before the producer gives up, in seconds.
PATIENCE: Final = 60.0


class Producer:
    """Reports ``booking.confirmed`` of ``b1``; each event has an id of its own."""

    def __init__(self, engine: Engine, tenant: UUID, log: Path, n_rules: int) -> None:
        self._begin = sessions(engine).begin
        self._tenant = tenant
        self._n_rules = n_rules
        self._file = log.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self.n_retries = 0  # reports that were not taken at once

    def emit(self, n: int = 1, *, every: float = 0.0) -> None:
        """Report ``n`` events, each in a transaction, ``every`` so many seconds."""
        for _ in range(n):
            self._report(f"chaos-{uuid4()}")
            time.sleep(every)

    def _report(self, event_id: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (stored := self._try(event_id)):
            if time.monotonic() > deadline:
                raise AssertionError(f"not taken within {PATIENCE} s")
            self.n_retries += 1
            time.sleep(0.2)
        entry = {"event": str(stored), "executions": self._n_rules}
        with self._lock:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def _try(self, event_id: str) -> UUID | None:
        event = AutomationEvent(
            "booking.confirmed",
            "show",
            booking_id="b1",
            event_id=event_id,
            congregation_id=self._tenant,
        )
        try:
            with self._begin() as session:
                result = emit_automation_event(session, event)
        except SQLAlchemyError:
            return None  # whether it was committed is unknown: the same id goes again
        return result.event_id if result.success else None

    def close(self) -> None:
        self._file.close()
