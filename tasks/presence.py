"""How a worker tells that it lives, and how it knows whether it is well."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Table, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks import queue
from tasks.lane import Bench
from tasks.models.lane import LaneHeartbeat, WorkerProcess, WorkerState
from tasks.pool import LanePool


class Presence:
    """One worker's row in ``workers`` and its lanes' rows in ``lane_heartbeats``."""

    def __init__(self, bench: Bench, pools: Sequence[LanePool]) -> None:
        self._bench = bench
        self._pools = pools
        self._state = WorkerState.RUNNING
        self._started_at: datetime | None = None

    def announce(self, state: WorkerState) -> None:
        """Enter a state and write it down at once."""
        self._state = state
        self.beat()

    def beat(self) -> None:
        """Write that this worker and its lanes live, in one transaction."""
        now = self._bench.clock()
        self._started_at = self._started_at or now
        worker = {
            "id": self._bench.worker,
            "hostname": socket.gethostname()[:255],
            "pid": os.getpid(),
            "lanes": {pool.lane.name: pool.workers for pool in self._pools},
            "state": self._state,
            "started_at": self._started_at,
            "heartbeat_at": now,
        }
        lanes = [
            {
                "lane": pool.lane.name,
                "worker": self._bench.worker,
                "swept_at": now - timedelta(seconds=time.monotonic() - pool.swept_at),
                "n_sweeps": pool.n_sweeps,
            }
            for pool in self._pools
            if pool.swept_at is not None
        ]
        with self._bench.begin() as session:
            _upsert(session, WorkerProcess.metadata.tables["workers"], [worker])
            _upsert(session, LaneHeartbeat.metadata.tables["lane_heartbeats"], lanes)

    def ailments(self) -> list[str]:
        """Return which of database and broker do not answer."""
        ailing = []
        try:
            with self._bench.begin() as session:
                session.execute(text("SELECT 1"))
        except Exception:  # noqa: BLE001  # whatever it is, it does not answer
            ailing.append("database does not answer")
        try:
            queue.ping()
        except Exception:  # noqa: BLE001  # whatever it is, it does not answer
            ailing.append("broker does not answer")
        return ailing


def _upsert(session: Session, table: Table, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    is_postgres = session.get_bind().dialect.name == "postgresql"
    insert = postgresql.insert if is_postgres else sqlite.insert
    statement = insert(table)
    keys = [column.name for column in table.primary_key]
    statement = statement.on_conflict_do_update(
        index_elements=keys,
        set_={name: statement.excluded[name] for name in rows[0] if name not in keys},
    )
    session.execute(statement, rows)
