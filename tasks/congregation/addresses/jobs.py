"""The table of syncs as long jobs, and what is told when one has ended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.own import Happening, report
from tasks.backoff import Pauses
from tasks.congregation.notifications.telling import News, notify
from tasks.long_jobs import LongJobs
from tasks.models.address import Sync, SyncKind
from tasks.models.long_job import LongJobState
from tasks.models.member import Account
from tasks.outbound.mailboxes import BadAddress, normal_address

LANE: Final = "sync"
TRIES: Final = 3
SYNCS: Final = LongJobs(
    Sync, LANE, TRIES, Pauses(timedelta(seconds=10), timedelta(minutes=5), is_kept=True)
)
_COUNTS: Final = ("created", "updated", "missing", "rejected")
_SOURCE_MAX: Final = 200  # characters


def source_of(sync: Sync) -> str:
    """Return the names of a sync's files, in one line."""
    names = ", ".join(str(each["name"]) for each in sync.sources)
    return names if len(names) <= _SOURCE_MAX else f"{names[: _SOURCE_MAX - 1]}…"


def tell(session: Session, sync: Sync, now: datetime) -> None:
    """Report the end of a sync to rules, webhooks, and to who asked for it.

    One that only looked at the perimeter, or was cancelled, is not told of.
    """
    words = {LongJobState.DONE: "completed", LongJobState.FAILED: "failed"}
    word = words.get(sync.state)
    if word is None or sync.kind is not SyncKind.OPEN_DATA:
        return
    counts = {f"n_{name}": sync.report.get(name, 0) for name in _COUNTS}
    said = {"id": str(sync.id), "source": source_of(sync), "error": sync.error or ""}
    happening = Happening(
        f"sync.{word}", sync.congregation_id, sync.id, {"sync": said | counts}
    )
    report(session, [happening], now)
    _notify(session, sync, f"sync.{word}", said | counts, now)


def _notify(
    session: Session, sync: Sync, type_: str, said: Mapping[str, Any], now: datetime
) -> None:
    names = ("n_created", "n_updated", "n_missing")
    payload: dict[str, Any] = {"source": said["source"]}
    if type_ == "sync.failed":
        payload["error"] = said["error"]
    else:
        payload |= {name: said[name] for name in names}
    requester = _account(session, sync)
    news = News(
        type_,
        sync.id,
        payload,
        account_id=requester,
        duty=None if requester else "administrator",
    )
    notify(session, sync.congregation_id, news, now)


def _account(session: Session, sync: Sync) -> UUID | None:
    """Return the account of who asked for it; ``None``: they have none here."""
    try:
        address = normal_address(sync.requested_by)
    except BadAddress:  # a token, or the system
        return None
    return session.scalar(
        select(Account.id).where(
            Account.congregation_id == sync.congregation_id, Account.email == address
        )
    )
