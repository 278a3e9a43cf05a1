"""Long jobs of every kind whose worker vanished: tried again, or failed for good."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.addresses.jobs import SYNCS, tell
from tasks.congregation.transfer.jobs import TRANSFERS, concluded


def take_back_long_jobs(session: Session, now: datetime, limit: int) -> list[UUID]:
    """Take back up to ``limit`` jobs of each kind; returns their ids.

    The caller commits.  What fails for good is reported, as when its lane fails it.
    """
    syncs = SYNCS.take_back(session, now, limit, tell)
    transfers = TRANSFERS.take_back(session, now, limit, concluded)
    return [*(row.id for row in syncs), *(row.id for row in transfers)]
