"""Sync: addresses from open data, one run at a time for each congregation.

Fed by operators (``tasks.congregation.addresses.starting``).  Shape: claim · act ·
settle.  What is read is staged in a file of the worker's machine; the last deed is one
transaction, which ends the sync and changes all addresses.  A worker that dies before
its commit has changed nothing; rescue lets the sync be tried again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.addresses.jobs import SYNCS, tell
from tasks.congregation.addresses.uploads import tidy
from tasks.congregation.addresses.working import work
from tasks.lane import Backlog, Bench
from tasks.long_runs import run_next
from tasks.models.long_job import LongJobState

_QUEUED: Final = LongJobState.QUEUED.value


@dataclass(frozen=True, slots=True)
class SyncSweep:
    """What one sweep did, as ids of syncs."""

    done: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()  # or given back by a worker that stops
    failed: tuple[UUID, ...] = ()
    cancelled: tuple[UUID, ...] = ()
    lost: tuple[UUID, ...] = ()  # another worker has it by now
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> SyncSweep:
    """Do the sync that has waited longest, and remove the uploads of those that ended.

    One sweep does one sync, whatever the limit.
    """
    del limit
    ran = None if bench.stopping.is_set() else run_next(bench, SYNCS, work, tell)
    tidy(bench)
    if ran is None:
        return SyncSweep()
    id_, state = ran
    field = "retried" if state == _QUEUED else state
    return SyncSweep(**{field: (id_,)}, is_full=state != _QUEUED)


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many syncs are due."""
    return SYNCS.backlog(session, now)
