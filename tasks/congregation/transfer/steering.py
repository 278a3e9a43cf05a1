"""Cancelling a transfer, fetching what it made, and removing it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tasks.congregation.transfer.jobs import TRANSFERS, hand_back, let_go
from tasks.errors import Conflict, NotFound
from tasks.models import Transfer, TransferKind
from tasks.models.long_job import LongJobState
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say


def cancel(
    session: Session, transfer_id: UUID, actor: Actor, now: datetime
) -> Transfer:
    """Cancel a transfer: at once when it waits, within seconds when it reads.

    Raises:
        NotFound: the session sees none.
        Conflict: it has ended, or is writing; the caller rolls back.
    """
    row = get_transfer(session, transfer_id)
    try:
        is_asked = TRANSFERS.ask_cancel(session, row, now)
    except OperationalError as error:
        raise Conflict(
            "too_late", say("It is writing what it has read; it is done in a moment.")
        ) from error
    if not is_asked:
        raise Conflict("has_ended", say("It has come to its end already."))
    if row.state is LongJobState.CANCELLED:
        if row.kind is TransferKind.IMPORT:
            hand_back(session, row)
        let_go(session, row, now)
    session.flush()
    record_transfer(
        session, row, actor, "transfer.cancelled", f"Cancelled: {row.file_name}"
    )
    return row


def fetch(session: Session, transfer_id: UUID, actor: Actor) -> Transfer:
    """Return an export that is about to be downloaded, and write that down.

    Raises:
        NotFound: the session sees none.
        Conflict: there is nothing to download, or not any more.
    """
    row = get_transfer(session, transfer_id)
    if row.kind is not TransferKind.EXPORT or row.file_key is None:
        raise Conflict(
            "no_file", say("The archive is not there any more; export again.")
        )
    record_transfer(
        session, row, actor, "transfer.downloaded", f"Downloaded {row.file_name}"
    )
    return row


def remove(
    session: Session, transfer_id: UUID, actor: Actor, now: datetime
) -> Transfer:
    """Have the archive of an ended transfer removed before its time.

    Raises:
        NotFound: the session sees none.
        Conflict: it is under way, or has no archive.
    """
    row = get_transfer(session, transfer_id)
    # Locked, so that nobody else removes the archive, or imports it, meanwhile.
    session.refresh(row, with_for_update=True)
    if row.is_open or row.file_key is None:
        raise Conflict("no_file", say("There is no archive to remove."))
    let_go(session, row, now)
    session.flush()
    record_transfer(session, row, actor, "transfer.removed", f"Removed {row.file_name}")
    return row


def get_transfer(session: Session, transfer_id: UUID) -> Transfer:
    """Return a transfer.

    Raises:
        NotFound: the session sees none.
    """
    row = session.scalars(
        select(Transfer).where(Transfer.id == transfer_id)
    ).one_or_none()
    if row is None:
        raise NotFound("unknown_transfer", say("There is no such export or import."))
    return row


def record_transfer(
    session: Session, row: Transfer, actor: Actor, action: str, summary: str
) -> None:
    """Write down what was done; the caller commits it together with the deed."""
    subject = Subject("transfer", str(row.id), row.congregation_id)
    record(session, actor, action, subject, summary)
