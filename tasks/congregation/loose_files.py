"""Files of the storage and rows that need them: neither is ever left without the other.

A key is reserved before its file is written, kept in the transaction of the row that
needs it, and let go in the transaction that removes the row.  The janitor removes what
is loose and past its time.  So whenever a process dies, nothing is lost or left over.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.errors import Conflict
from tasks.lane import Bench
from tasks.models.document import LooseFile
from tasks.saying import say
from tasks.storage.base import StorageFailed

logger = logging.getLogger(__name__)

#: From the reservation to the commit of the row; an upload takes minutes at most.
GRACE: Final = timedelta(days=1)
#: When the storage does not let go of a file, it is asked again after this.
_AGAIN: Final = timedelta(hours=1)
_LANE: Final = "janitor"


def reserve(session: Session, congregation_id: UUID, key: str, now: datetime) -> None:
    """Note that a file will be written under ``key``; commit before you write it."""
    session.add(
        LooseFile(congregation_id=congregation_id, key=key, remove_after=now + GRACE)
    )
    session.flush()


def keep(session: Session, key: str, now: datetime) -> None:
    """Say that a row of this transaction needs the file from now on.

    Raises:
        Conflict: the reservation has lapsed; the file may be gone already.
    """
    kept = session.execute(
        delete(LooseFile)
        .where(LooseFile.key == key, LooseFile.remove_after > now)
        .execution_options(synchronize_session=False)
    )
    if kept.rowcount != 1:  # type: ignore[attr-defined]  # a cursor result
        says = say("The upload took too long. Upload it again.")
        raise Conflict("upload_lapsed", says)


def let_go(session: Session, congregation_id: UUID, key: str, now: datetime) -> None:
    """Have a file removed after the commit: no row needs it any more."""
    session.add(LooseFile(congregation_id=congregation_id, key=key, remove_after=now))
    doorbell.ask(session, _LANE)


def drop(session: Session, key: str, now: datetime) -> None:
    """Have a reserved file removed after the commit: it is not needed after all."""
    session.execute(
        update(LooseFile)
        .where(LooseFile.key == key)
        .values(remove_after=now)
        .execution_options(synchronize_session=False)
    )
    doorbell.ask(session, _LANE)


def remove_loose(bench: Bench, limit: int) -> tuple[str, ...]:
    """Remove up to ``limit`` files whose time has come; returns their keys.

    A storage that fails is asked again in an hour.
    """
    now = bench.clock()
    try:
        bench.storage.tidy()
    except StorageFailed:
        logger.warning("storage.not_tidied", exc_info=True)
    with bench.begin() as session:
        keys = session.scalars(
            select(LooseFile.key)
            .where(LooseFile.remove_after <= now)
            .order_by(LooseFile.remove_after)
            .limit(limit)
        ).all()
    removed, failed = [], []
    for key in keys:  # no transaction is open; twice is the same as once
        try:
            bench.storage.delete(key)
            removed.append(key)
        except StorageFailed:
            failed.append(key)
    with bench.begin() as session:
        for start in range(0, len(removed), 500):
            session.execute(
                delete(LooseFile)
                .where(LooseFile.key.in_(removed[start : start + 500]))
                .execution_options(synchronize_session=False)
            )
        for start in range(0, len(failed), 500):
            session.execute(
                update(LooseFile)
                .where(LooseFile.key.in_(failed[start : start + 500]))
                .values(remove_after=now + _AGAIN)
                .execution_options(synchronize_session=False)
            )
    return tuple(removed)
