"""How long a congregation's back office keeps what nobody needs any more."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from tasks.congregation.notifications.wishes import MAILS
from tasks.models import AccountToken, Consent, Member, Sync, Transfer
from tasks.models.base import born_from
from tasks.models.long_job import ENDED
from tasks.models.notification import (
    Digest,
    DigestMail,
    Notification,
    NotificationState,
)

#: A kind's name, its key, and what makes a row past its time.
Past = tuple[str, InstrumentedAttribute[Any], tuple[ColumnElement[bool], ...]]

#: That somebody took a consent back may have to be shown for two years.
KEEP_CONSENTS: Final = timedelta(days=731)
#: What somebody was told, or need not be told any more.
KEEP_TOLD: Final = timedelta(days=7)
#: What could not be told; operators look at it and try again.
KEEP_UNTOLD: Final = timedelta(days=30)

_TOLD: Final = (
    NotificationState.SENT,
    NotificationState.CANCELLED,
    NotificationState.SKIPPED,
)


def past(now: datetime, keep_settled: timedelta) -> Iterator[Past]:
    """Yield what is past its time; each has an index that finds it."""
    yield "tokens", AccountToken.id, (AccountToken.expires_at < now,)
    # Those that still hold have no such instant, and stay.
    is_old = Consent.withdrawn_at < now - KEEP_CONSENTS
    yield "consents", Consent.id, (is_old, _decides_nothing())
    yield from _notifications(now)
    before = now - keep_settled
    yield (
        "syncs",
        Sync.id,
        (Sync.id < born_from(before), Sync.state.in_(ENDED), Sync.ended_at < before),
    )
    yield (
        "transfers",
        Transfer.id,
        (
            Transfer.id < born_from(before),
            Transfer.state.in_(ENDED),
            Transfer.ended_at < before,
            Transfer.file_key.is_(None),  # else its file would be left over
        ),
    )


def _decides_nothing() -> ColumnElement[bool]:
    """Return whether a consent that was taken back may be forgotten.

    Who took back the one to mails gets none as long as it is the last that is known of
    them: without it they would get mails again.
    """
    later = aliased(Consent)
    is_later = or_(
        later.given_at > Consent.given_at,
        and_(later.given_at == Consent.given_at, later.id > Consent.id),
    )
    is_replaced = select(later.id).where(
        later.member_id == Consent.member_id, later.kind == Consent.kind, is_later
    )
    is_nobodys = select(Member.id).where(
        Member.id == Consent.member_id, Member.anonymised_at.is_not(None)
    )
    return or_(Consent.kind != MAILS, is_replaced.exists(), is_nobodys.exists())


def _notifications(now: datetime) -> Iterator[Past]:
    """Yield what was told; a digest and its mails go after the last thing in it."""
    yield (
        "notifications",
        Notification.id,
        (Notification.ended_at < now - KEEP_TOLD, Notification.state.in_(_TOLD)),
    )
    yield (
        "untold",
        Notification.id,
        (
            Notification.ended_at < now - KEEP_UNTOLD,
            Notification.state == NotificationState.FAILED,
        ),
    )
    before = now - KEEP_TOLD
    is_kept = select(Notification.id).where(Notification.digest_id == Digest.id)
    is_open = select(DigestMail.id).where(
        DigestMail.digest_id == Digest.id, DigestMail.settled_at.is_(None)
    )
    yield (
        "digests",
        Digest.id,
        (Digest.created_at < before, ~is_kept.exists(), ~is_open.exists()),
    )
