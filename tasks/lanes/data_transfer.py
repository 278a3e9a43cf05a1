"""Data transfer: archives of a congregation's data, out and in.

Fed by operators (``tasks.congregation.transfer.starting``).  Shape: claim · act ·
settle.  Archives are read and written in files; the last deed is one transaction, which
ends the transfer and, of an import, writes all of its rows.  A worker that dies before
its commit has changed nothing, and the transfer has failed: a person looks at it before
it is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.transfer.jobs import TRANSFERS, concluded, expire
from tasks.congregation.transfer.working import work
from tasks.lane import Backlog, Bench
from tasks.long_runs import run_next
from tasks.models.long_job import LongJobState

#: Archives that are let go after one sweep; more follow with the next.
_EXPIRE_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class TransferSweep:
    """What one sweep did, as ids of transfers."""

    done: tuple[UUID, ...] = ()
    given_back: tuple[UUID, ...] = ()  # by a worker that stops
    failed: tuple[UUID, ...] = ()
    cancelled: tuple[UUID, ...] = ()
    lost: tuple[UUID, ...] = ()  # another worker has it by now
    expired: tuple[UUID, ...] = ()  # whose archive is not kept any more
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> TransferSweep:
    """Do the transfer that has waited longest, and let old archives go.

    One sweep does one transfer, whatever the limit.
    """
    del limit
    with bench.begin() as session:
        expired = tuple(expire(session, bench.clock(), _EXPIRE_MAX))
    ran = None
    if not bench.stopping.is_set():
        ran = run_next(bench, TRANSFERS, work, concluded)
    if ran is None:
        return TransferSweep(expired=expired)
    id_, state = ran
    is_back = state == LongJobState.QUEUED.value
    outcome = {"given_back" if is_back else state: (id_,)}
    return TransferSweep(**outcome, expired=expired, is_full=not is_back)


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many transfers are due."""
    return TRANSFERS.backlog(session, now)
