"""Transfers as long jobs, and who hears of their end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.own import Happening, report
from tasks.congregation import loose_files
from tasks.congregation.notifications.telling import News, notify
from tasks.long_jobs import LongJobs
from tasks.models import Account, Transfer, TransferKind
from tasks.models.long_job import LongJobState
from tasks.outbound.mailboxes import BadAddress, normal_address

LANE: Final = "data_transfer"
#: Where in the storage archives are.
PURPOSE: Final = "transfers"
#: An import that failed in the middle is looked at by a person before it is repeated.
TRANSFERS: Final = LongJobs(Transfer, LANE, tries=1)
#: How long an export can be fetched.
KEEP_EXPORTS: Final = timedelta(days=7)
#: How long an uploaded archive waits to be taken over.
KEEP_UPLOADS: Final = timedelta(days=1)
#: Bytes of an archive that is written; of one that is uploaded, a setting says it.
ARCHIVE_MAX: Final = 6_000_000_000

_WORDS: Final[Mapping[LongJobState, str]] = {
    LongJobState.DONE: "completed",
    LongJobState.FAILED: "failed",
}
_NEWS: Final[Mapping[TransferKind, str]] = {
    TransferKind.EXPORT: "data_transfer.exported",
    TransferKind.IMPORT: "data_transfer.imported",
}


def concluded(session: Session, transfer: Transfer, now: datetime) -> None:
    """Do what follows when a transfer did not end well; its transaction ends it."""
    if transfer.kind is TransferKind.IMPORT:
        hand_back(session, transfer)
    elif transfer.file_key is not None:
        let_go(session, transfer, now)
    tell(session, transfer, now)


def hand_back(session: Session, transfer: Transfer) -> None:
    """Give an import's archive back to its check, so that it can be taken over yet."""
    check = session.get(Transfer, transfer.check_id) if transfer.check_id else None
    if check is not None:
        check.file_key, transfer.file_key = transfer.file_key, None


def let_go(session: Session, transfer: Transfer, now: datetime) -> None:
    """Have the archive removed after the commit."""
    if transfer.file_key is not None:
        key, transfer.file_key = transfer.file_key, None
        loose_files.let_go(session, transfer.congregation_id, key, now)


def tell(session: Session, transfer: Transfer, now: datetime) -> None:
    """Report the end of an export or import to rules, webhooks, and who asked for it.

    A check changes nothing and is watched, so nobody is told of it, and nobody of
    what was cancelled.
    """
    word = _WORDS.get(transfer.state)
    if word is None or transfer.kind is TransferKind.CHECK:
        return
    said = {
        "id": str(transfer.id),
        "direction": transfer.kind.value,
        "n_rows": transfer.report.get("n_rows", 0),
        "error": transfer.error or "",
    }
    of = transfer.congregation_id
    happening = Happening(f"{LANE}.{word}", of, transfer.id, {"transfer": said})
    report(session, [happening], now)
    _notify(session, transfer, now)


def _notify(session: Session, transfer: Transfer, now: datetime) -> None:
    """Mail who asked for it, if they have an account here."""
    account_id = _account(session, transfer)
    if account_id is None:
        return
    has_failed = transfer.state is LongJobState.FAILED
    payload: dict[str, Any] = {"error": transfer.error or ""} if has_failed else {}
    type_ = f"{LANE}.failed" if has_failed else _NEWS[transfer.kind]
    news = News(type_, transfer.id, payload, account_id=account_id)
    notify(session, transfer.congregation_id, news, now)


def _account(session: Session, transfer: Transfer) -> UUID | None:
    try:
        address = normal_address(transfer.requested_by)
    except BadAddress:  # the system, or a token
        return None
    return session.scalar(
        select(Account.id).where(
            Account.congregation_id == transfer.congregation_id,
            Account.email == address,
            Account.is_active,
        )
    )


def expire(session: Session, now: datetime, limit: int) -> list[UUID]:
    """Let up to ``limit`` archives go whose time is over; returns their transfers.

    What is being read or written is left until it has ended.
    """
    rows = session.scalars(
        select(Transfer)
        .where(
            Transfer.file_key.is_not(None),
            Transfer.expires_at <= now,
            Transfer.state.not_in((LongJobState.QUEUED, LongJobState.RUNNING)),
        )
        .order_by(Transfer.expires_at, Transfer.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        let_go(session, row, now)
    session.flush()
    return [row.id for row in rows]
