"""Ending notifications once all mails of their digest have ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import and_, case, func, select, update
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.models.notification import (
    OPEN_MAILS,
    Digest,
    DigestItem,
    DigestMail,
    MailState,
    Notification,
    NotificationState,
)
from tasks.models.reason import Reason

_CHUNK: Final = 500


def conclude(session: Session, digests: Sequence[UUID], now: datetime) -> None:
    """End the notifications of digests that have no open mail; the caller commits.

    Two workers that end the last two mails at once take turns at the digest's row, or
    each would see the other's mail as open still.
    """
    ids = sorted(set(digests))
    if not ids:
        return
    session.flush()
    session.execute(
        select(Digest.id)
        .where(among(session, Digest.id, ids))
        .order_by(Digest.id)
        .with_for_update(key_share=True)
    )
    is_open = DigestMail.state.in_(OPEN_MAILS)
    busy = session.scalars(
        select(DigestMail.digest_id)
        .where(among(session, DigestMail.digest_id, ids), is_open)
        .distinct()
    ).all()
    for digest_id in set(ids) - set(busy):
        _end(session, digest_id, now)


#: Why a notification was skipped comes with the state.
_End = tuple[NotificationState, Reason | None]


def _end(session: Session, digest_id: UUID, now: datetime) -> None:
    ends: defaultdict[_End, list[UUID]] = defaultdict(list)
    is_told = DigestItem.reason.is_(None)
    n_failed = func.sum(
        case((and_(is_told, DigestMail.state == MailState.FAILED), 1), else_=0)
    )
    n_sent = func.sum(
        case((and_(is_told, DigestMail.state == MailState.SENT), 1), else_=0)
    )
    rows = session.execute(
        select(
            DigestItem.notification_id, n_failed, n_sent, func.min(DigestItem.reason)
        )
        .join(DigestMail, DigestMail.id == DigestItem.mail_id)
        .where(DigestMail.digest_id == digest_id)
        .group_by(DigestItem.notification_id)
    )
    for id_, failed, sent, reason in rows:
        ends[_end_of(failed, sent, reason)].append(id_)
    for (state, reason), ids in ends.items():
        for start in range(0, len(ids), _CHUNK):
            session.execute(
                update(Notification)
                .where(among(session, Notification.id, ids[start : start + _CHUNK]))
                .values(state=state, reason=reason, ended_at=now)
                .execution_options(synchronize_session=False)
            )


def _end_of(n_failed: int, n_sent: int, reason: str | None) -> _End:
    if n_failed:
        return NotificationState.FAILED, None
    if n_sent:
        return NotificationState.SENT, None
    why = Reason(reason) if reason else Reason.NO_RECIPIENT
    return NotificationState.SKIPPED, why
