"""Uploaded files of addresses: kept until their sync has ended."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any, BinaryIO, Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks.congregation import loose_files
from tasks.db import Begin, reading
from tasks.lane import Bench
from tasks.models.address import Sync
from tasks.models.base import new_id
from tasks.models.long_job import ENDED
from tasks.storage import Storage, StorageFailed, key_of

logger = logging.getLogger(__name__)

#: Syncs that are tidied up after at once.
_SOME: Final = 20
_NAME_MAX: Final = 80


def keep_upload(
    begin: Begin,
    storage: Storage,
    congregation_id: UUID,
    upload: tuple[str, BinaryIO],
    now: datetime,
    *,
    limit: int,
) -> dict[str, str | int]:
    """Store one file of a sync that is about to be asked for; returns the source.

    No transaction may be open.  The file is reserved until ``start_sync`` keeps it.

    Args:
        upload: the file's name and what it holds.

    Raises:
        FileTooLarge: it has more than ``limit`` bytes.
        StorageFailed: it cannot be stored now.
    """
    given, stream = upload
    key = key_of(congregation_id, "syncs", str(new_id()))
    with begin() as session:
        loose_files.reserve(session, congregation_id, key, now)
    stored = storage.put(key, stream, limit=limit)
    name = "".join(char for char in given if char.isprintable()).strip()
    return {"name": name[-_NAME_MAX:] or "file", "size": stored.size, "key": key}


def forget(session: Session, sources: Iterable[dict[str, Any]], now: datetime) -> None:
    """Have the uploads of a sync that was not asked for removed.  Caller commits."""
    for source in sources:
        if "key" in source:
            loose_files.drop(session, str(source["key"]), now)


def tidy(bench: Bench) -> None:
    """Remove the files of syncs that have ended; what fails is tried again later."""
    with bench.begin() as session:
        reading(session)
        ended = session.scalars(
            select(Sync)
            .where(Sync.has_files.is_(True), Sync.state.in_(ENDED))
            .limit(_SOME)
        ).all()
    for sync in ended:
        try:
            for source in sync.sources:
                if "key" in source:
                    bench.storage.delete(str(source["key"]))
        except StorageFailed:
            logger.warning("sync.not_tidied", extra={"sync": str(sync.id)})
            continue
        with bench.begin() as session:
            session.execute(
                update(Sync).where(Sync.id == sync.id).values(has_files=False)
            )
