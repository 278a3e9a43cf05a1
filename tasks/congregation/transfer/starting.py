"""Asking for exports, for a look at an archive, and for its import."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.congregation import loose_files
from tasks.congregation.days import locked
from tasks.congregation.transfer.jobs import (
    KEEP_UPLOADS,
    LANE,
    PURPOSE,
)
from tasks.congregation.transfer.steering import get_transfer, record_transfer
from tasks.db import Begin
from tasks.errors import Conflict, InvalidInput
from tasks.models import Transfer, TransferKind, new_id
from tasks.models.long_job import ENDED, LongJobState
from tasks.operations.audit import Actor
from tasks.saying import say
from tasks.storage import FileTooLarge, Storage, Stored, key_of

_NAME_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """An archive that is in the storage, and reserved until a row needs it."""

    key: str
    name: str  # as its operator called it
    stored: Stored


def start_export(
    session: Session,
    congregation_id: UUID,
    actor: Actor,
    *,
    files: bool,
    audit: bool,
    now: datetime,
) -> Transfer:
    """Ask for an export.  Caller commits.

    Raises:
        NotFound: there is no such congregation.
        Conflict: another transfer of the congregation is under way.
    """
    row = _started(session, congregation_id, TransferKind.EXPORT, actor, now)
    row.options = {"files": files, "audit": audit}
    row.file_name = f"{locked(session, congregation_id).slug}-{now:%Y-%m-%d}.carillon"
    record_transfer(session, row, actor, "transfer.requested", "Asked for an export")
    return row


def keep_upload(
    begin: Begin,
    storage: Storage,
    congregation_id: UUID,
    stream: BinaryIO,
    name: str,
    now: datetime,
    *,
    limit: int,
) -> Upload:
    """Put an uploaded archive into the storage; no transaction may be open.

    Args:
        limit: bytes.

    Raises:
        InvalidInput: it is empty or too large.
        StorageFailed: it cannot be kept now.
    """
    key = key_of(congregation_id, PURPOSE, f"{new_id()}.carillon")
    with begin() as session:
        loose_files.reserve(session, congregation_id, key, now)
    try:
        stored = storage.put(key, stream, limit=limit)
    except FileTooLarge as error:
        raise InvalidInput(error.code, error.message, field="file") from error
    if not stored.size:
        raise InvalidInput("file_empty", say("The file is empty."), field="file")
    shown = "".join(char for char in name if char.isprintable()).strip()
    return Upload(key, shown[-_NAME_MAX:] or "archive", stored)


def start_check(
    session: Session, congregation_id: UUID, upload: Upload, actor: Actor, now: datetime
) -> Transfer:
    """Ask for a look at an uploaded archive.  Caller commits.

    Raises:
        NotFound: there is no such congregation.
        Conflict: another transfer is under way, or the upload has lapsed.
    """
    row = _started(session, congregation_id, TransferKind.CHECK, actor, now)
    loose_files.keep(session, upload.key, now)
    row.file_key, row.file_name = upload.key, upload.name
    row.file_size = upload.stored.size
    row.expires_at = now + KEEP_UPLOADS
    session.flush()
    record_transfer(session, row, actor, "transfer.uploaded", f"Uploaded {upload.name}")
    return row


def confirm(
    session: Session, check_id: UUID, actor: Actor, n_rows: int, now: datetime
) -> Transfer:
    """Take over the archive that a check has looked at.  Caller commits.

    Args:
        n_rows: the number of rows that the operator had before their eyes.

    Raises:
        NotFound: the session sees no such check.
        Conflict: it cannot be imported, or not with this number, or another transfer
            is under way.
    """
    check = get_transfer(session, check_id)
    locked(session, check.congregation_id)
    session.refresh(check, with_for_update=True)  # its archive may be removed now
    if (why := why_not(check)) is not None:
        raise Conflict("not_importable", why)
    if n_rows != check.report["n_rows"]:
        raise Conflict("other_number", say("The number of rows is another one by now."))
    row = _started(session, check.congregation_id, TransferKind.IMPORT, actor, now)
    row.check_id, row.file_name = check.id, check.file_name
    row.file_size, row.expires_at = check.file_size, check.expires_at
    row.file_key, check.file_key = check.file_key, None
    session.flush()
    summary = f"Asked to import {check.file_name}, {n_rows} rows"
    record_transfer(session, row, actor, "transfer.requested", summary)
    return row


def why_not(check: Transfer) -> str | None:
    """Return why a check cannot become an import; ``None``: it can."""
    if check.kind is not TransferKind.CHECK or check.state is not LongJobState.DONE:
        return say("Only an archive that was looked at can be imported.")
    if check.report["n_problems"]:
        return say("The archive has problems; nothing of it can be imported.")
    if check.file_key is None:
        return say(
            "The archive was imported, or is not kept any more. Upload it again."
        )
    if not check.report["n_rows"]:
        return say("There is nothing to import: everything is here already.")
    return None


def _started(
    session: Session,
    congregation_id: UUID,
    kind: TransferKind,
    actor: Actor,
    now: datetime,
) -> Transfer:
    locked(session, congregation_id)  # two requests at once come one after the other
    under_way = session.scalar(
        select(Transfer.id)
        .where(
            Transfer.congregation_id == congregation_id, Transfer.state.not_in(ENDED)
        )
        .limit(1)
    )
    if under_way is not None:
        raise Conflict(
            "under_way",
            say(
                "Another export or import of this congregation is under way. Wait for "
                "its end, or cancel it."
            ),
        )
    row = Transfer(
        id=new_id(now),
        congregation_id=congregation_id,
        kind=kind,
        requested_by=actor.name[:255],
        requested_at=now,
        run_at=now,
    )
    session.add(row)
    session.flush()
    doorbell.ask(session, LANE)
    return row
