"""Making digests of what has settled: one for a category, with a mail for each account.

Shape: one transaction.  Whoever gathers for a congregation holds its row, so a group
is never cut in two by two workers that look at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.bulk import among, insert_many
from tasks.congregation.notifications.addressing import accounts_with_duties
from tasks.congregation.notifications.kinds import KINDS
from tasks.congregation.notifications.telling import IS_PENDING, LANE
from tasks.models.base import Base, new_id
from tasks.models.congregation import Congregation
from tasks.models.notification import (
    Digest,
    DigestItem,
    DigestMail,
    MailState,
    Notification,
    NotificationState,
)
from tasks.models.reason import Reason

#: Congregations that one sweep gathers for; the next one takes the others.
CONGREGATIONS_MAX: Final = 50
#: Notifications of one congregation in one go, far beyond what a campaign's start makes
#: of a big one: a group that is cut here becomes two mails.
NOTIFICATIONS_MAX: Final = 20_000
_CHUNK: Final = 500


def gather(session: Session, now: datetime) -> list[UUID]:
    """Make digests of what has settled; returns the ids of their mails."""
    settled = (IS_PENDING, Notification.settles_at <= now)
    waiting = session.scalars(
        select(Notification.congregation_id)
        .where(*settled)
        .group_by(Notification.congregation_id)
        .limit(CONGREGATIONS_MAX)
    ).all()
    made: list[UUID] = []
    for congregation_id in _held(session, waiting):
        rows = session.scalars(
            select(Notification)
            .where(Notification.congregation_id == congregation_id, *settled)
            .order_by(Notification.category, Notification.first_at, Notification.id)
            .limit(NOTIFICATIONS_MAX)
            .with_for_update()
            .execution_options(populate_existing=True)
        ).all()
        for category, group in groupby(rows, attrgetter("category")):
            made += _digest(session, congregation_id, category, list(group), now)
    if made:
        doorbell.ask(session, LANE)
    return made


def _held(session: Session, ids: Sequence[UUID]) -> Sequence[UUID]:
    """Lock those congregations for which nobody else gathers right now."""
    return session.scalars(
        select(Congregation.id)
        .where(among(session, Congregation.id, ids))
        .order_by(Congregation.id)
        .with_for_update(skip_locked=True, key_share=True)
    ).all()


def _digest(
    session: Session,
    congregation_id: UUID,
    category: str,
    rows: Sequence[Notification],
    now: datetime,
) -> list[UUID]:
    """Make one digest; returns the ids of its mails."""
    told = _told(session, congregation_id, rows)
    reached = {row.id for several in told.values() for row in several}
    nobody = [row.id for row in rows if row.id not in reached]
    _end(session, nobody, now)
    if not told:
        return []
    digest = Digest(
        id=new_id(now),
        congregation_id=congregation_id,
        category=category,
        created_at=now,
    )
    session.add(digest)
    session.flush()
    _queue(session, sorted(reached), digest.id)
    return _mails(session, digest, told, now)


def _told(
    session: Session, congregation_id: UUID, rows: Sequence[Notification]
) -> Mapping[UUID, Sequence[Notification]]:
    """Return what each account is told; nobody is told of own deeds."""
    duties = sorted({row.duty for row in rows if row.duty is not None})
    with_duty = accounts_with_duties(session, congregation_id, duties)
    told: defaultdict[UUID, list[Notification]] = defaultdict(list)
    for row in rows:
        to = [row.account_id] if row.account_id else with_duty.get(row.duty or "", ())
        kind = KINDS.get(row.type)
        is_told = kind is not None and kind.tells_actor
        for account_id in to:
            if account_id != row.actor_id or is_told:
                told[account_id].append(row)
    return told


def _end(session: Session, ids: Sequence[UUID], now: datetime) -> None:
    for start in range(0, len(ids), _CHUNK):
        session.execute(
            update(Notification)
            .where(among(session, Notification.id, ids[start : start + _CHUNK]))
            .values(
                state=NotificationState.SKIPPED,
                reason=Reason.NO_RECIPIENT,
                ended_at=now,
            )
            .execution_options(synchronize_session=False)
        )


def _queue(session: Session, ids: Sequence[UUID], digest_id: UUID) -> None:
    for start in range(0, len(ids), _CHUNK):
        session.execute(
            update(Notification)
            .where(among(session, Notification.id, ids[start : start + _CHUNK]))
            .values(state=NotificationState.QUEUED, digest_id=digest_id)
            .execution_options(synchronize_session=False)
        )


def _mails(
    session: Session,
    digest: Digest,
    told: Mapping[UUID, Sequence[Notification]],
    now: datetime,
) -> list[UUID]:
    of = {"congregation_id": digest.congregation_id}
    mails: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for account_id, rows in sorted(told.items()):
        mail = {
            **of,
            "id": new_id(now),
            "digest_id": digest.id,
            "account_id": account_id,
            "state": MailState.PENDING,
            "run_at": now,
            "asked_at": now,
            "attempt": 0,
            "failures": 0,
            "crashes": 0,
            "created_at": now,
        }
        mails.append(mail)
        items += [{**of, "mail_id": mail["id"], "notification_id": r.id} for r in rows]
    tables = Base.metadata.tables
    insert_many(session, tables[DigestMail.__tablename__], mails)
    insert_many(session, tables[DigestItem.__tablename__], items)
    return [mail["id"] for mail in mails]
