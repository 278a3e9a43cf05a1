"""The leases that this process holds: renewed while it works, given back at its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import literal_column, select, update
from sqlalchemy.orm import Session

from tasks.lookups import among_keys
from tasks.models.execution import Execution

#: A lease is not renewed for ever: what hangs this long is given up to rescue.
MAX_RUNTIME: Final = timedelta(minutes=15)
#: Ids in one statement; far below the limits of both databases.
_CHUNK: Final = 200


class Claim(NamedTuple):
    """One execution leased to us; ``attempt`` is the fence."""

    execution_id: UUID
    attempt: int
    congregation_id: UUID

    def __hash__(self) -> int:
        """Hash what is unique already, and numbers rather than UUIDs: it is hot."""
        return hash((self.execution_id.int, self.attempt))


class Held:
    """The claims under way in this process; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: dict[Claim, float] = {}

    @contextmanager
    def holding(self, claims: Iterable[Claim]) -> Iterator[None]:
        """Hold ``claims`` until the block ends, however it ends."""
        claims = tuple(claims)
        started = time.monotonic()
        with self._lock:
            self._since.update(dict.fromkeys(claims, started))
        try:
            yield
        finally:
            self.let_go(claims)

    def let_go(self, claims: Iterable[Claim]) -> None:
        """Hold ``claims`` no longer: they are settled, or somebody else's."""
        with self._lock:
            for claim in claims:
                self._since.pop(claim, None)

    def current(self) -> list[Claim]:
        """Return the claims held now whose lease should live on."""
        youngest = time.monotonic() - MAX_RUNTIME.total_seconds()
        with self._lock:
            return [claim for claim, since in self._since.items() if since > youngest]


def renew(session: Session, claims: list[Claim], *, until: datetime) -> int:
    """Extend the leases that are still ours; returns how many were.  Caller commits.

    What one of our threads is just writing is passed over: waiting for each other's
    rows would be a deadlock, and there is another renewal before a lease lapses.
    """
    renewed = 0
    for start in range(0, len(claims), _CHUNK):
        pairs = [(c.execution_id, c.attempt) for c in claims[start : start + _CHUNK]]
        at_rest = (
            select(Execution.id)
            .where(
                among_keys(session, (Execution.id, Execution.attempt), pairs),
                Execution.state == literal_column("'running'"),
            )
            .with_for_update(skip_locked=True, key_share=True)
        )
        result = session.execute(
            update(Execution)
            .where(Execution.id.in_(at_rest))
            .values(lease_until=until)
            .execution_options(synchronize_session=False)
        )
        renewed += result.rowcount  # type: ignore[attr-defined]  # a cursor result
    return renewed
