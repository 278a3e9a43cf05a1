"""Taking due mails, deciding what is in them, and leasing those that have something."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal_column, select, update
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Message
from tasks.bulk import among
from tasks.congregation.notifications.concluding import conclude
from tasks.congregation.notifications.drafting import Ask, Draft, drafts
from tasks.congregation.notifications.telling import LANE
from tasks.holds.looking import closed
from tasks.lane import Bench
from tasks.lookups import unindexed
from tasks.models.hold import Channel
from tasks.models.notification import (
    DigestItem,
    DigestMail,
    MailState,
    Notification,
)
from tasks.models.reason import Reason
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work
from tasks.sharing import SHARING_MAX, share_out

#: Longer than the whole of one attempt, which ends within a minute.
LEASE: Final = timedelta(minutes=3)
_ERROR_MAX: Final = 500
_IS_DUE: Final[ColumnElement[bool]] = DigestMail.state == literal_column("'pending'")


class Held(NamedTuple):
    """One attempt at one mail; ``attempt`` is the fence."""

    mail_id: UUID
    congregation_id: UUID
    attempt: int
    message: Message


class Claimed(NamedTuple):
    """What one claim took: mails to be sent, and those that had nothing in them."""

    held: Sequence[Held]
    skipped: Sequence[UUID]


def is_due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return what makes a mail due."""
    return (_IS_DUE, DigestMail.run_at <= now)


def claim(session: Session, bench: Bench, *, limit: int) -> Claimed:
    """Lease up to ``limit`` due mails, oldest first, congregations taking turns.

    What goes into each is decided here, right before it leaves: who opted out, closed
    the account or is on the list of suppressions meanwhile gets nothing.
    """
    now = bench.clock()
    ids = _due(session, now, limit)
    if not ids:
        return Claimed((), ())
    mails = session.scalars(
        update(DigestMail)
        .where(among(session, DigestMail.id, ids), _IS_DUE)
        .values(
            state=MailState.RUNNING,
            attempt=DigestMail.attempt + 1,
            worker=bench.worker,
            lease_until=now + LEASE,
        )
        .returning(DigestMail)
        .execution_options(synchronize_session=False, populate_existing=True)
    ).all()
    held: list[Held] = []
    skipped: list[DigestMail] = []
    for mail, draft in zip(mails, _drafts(session, mails), strict=True):
        if draft.message is None:
            _skip(mail, draft, now)
            skipped.append(mail)
            continue
        of = mail.congregation_id
        held.append(Held(mail.id, of, mail.attempt, draft.message))
    nothing = [Work(mail.congregation_id, Measure.SKIPPED) for mail in skipped]
    note_work(session, LANE, nothing, now)
    conclude(session, [mail.digest_id for mail in skipped], now)
    return Claimed(held, [mail.id for mail in skipped])


def _due(session: Session, now: datetime, limit: int) -> Sequence[UUID]:
    held = closed(session, Channel.NOTIFICATIONS, now)
    if held.everything:
        return ()
    is_open = (
        [DigestMail.congregation_id.not_in(held.congregations)]
        if held.congregations
        else []
    )

    def own(of: UUID, share: int) -> Sequence[UUID]:
        return _locked(session, now, share, DigestMail.congregation_id == of)

    return share_out(
        _locked(session, now, limit, *is_open),
        limit,
        lambda: _congregations_with_due(session, now, *is_open),
        own,
        key=lambda id_: id_,
    )


def _congregations_with_due(
    session: Session, now: datetime, *is_open: ColumnElement[bool]
) -> Sequence[UUID]:
    # Not by an index of congregations: that one has all mails that there ever were.
    of = unindexed(DigestMail.congregation_id)
    return session.scalars(
        select(of)
        .where(*is_due(now), *is_open)
        .group_by(of)
        .order_by(func.random())
        .limit(SHARING_MAX)
    ).all()


def _locked(
    session: Session, now: datetime, limit: int, *where: ColumnElement[bool]
) -> Sequence[UUID]:
    return session.scalars(
        select(DigestMail.id)
        .where(*is_due(now), *where)
        .order_by(DigestMail.run_at, DigestMail.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()


def _drafts(session: Session, mails: Sequence[DigestMail]) -> list[Draft]:
    """Decide what is in each mail, and note what is left out."""
    told = notifications_of(session, [mail.id for mail in mails])
    found = drafts(
        session, [Ask(mail.account_id, told.get(mail.id, ())) for mail in mails]
    )
    for mail, draft in zip(mails, found, strict=True):
        _note(session, mail.id, draft.left_out)
    return found


def notifications_of(
    session: Session, mails: Sequence[UUID]
) -> Mapping[UUID, Sequence[Notification]]:
    """Return what each mail is to tell, the oldest first."""
    rows = session.execute(
        select(DigestItem.mail_id, Notification)
        .join(Notification, Notification.id == DigestItem.notification_id)
        .where(among(session, DigestItem.mail_id, mails))
        .order_by(Notification.first_at, Notification.id)
    )
    found: defaultdict[UUID, list[Notification]] = defaultdict(list)
    for mail_id, notification in rows:
        found[mail_id].append(notification)
    return found


def _note(session: Session, mail_id: UUID, left_out: Mapping[UUID, Reason]) -> None:
    """Write down what is left out of a mail, in the place of what was before."""
    session.execute(
        update(DigestItem)
        .where(DigestItem.mail_id == mail_id, DigestItem.reason.is_not(None))
        .values(reason=None)
        .execution_options(synchronize_session=False)
    )
    by_reason: defaultdict[Reason, list[UUID]] = defaultdict(list)
    for id_, reason in left_out.items():
        by_reason[reason].append(id_)
    for reason, ids in by_reason.items():
        session.execute(
            update(DigestItem)
            .where(
                DigestItem.mail_id == mail_id,
                among(session, DigestItem.notification_id, ids),
            )
            .values(reason=reason)
            .execution_options(synchronize_session=False)
        )


def _skip(mail: DigestMail, draft: Draft, now: datetime) -> None:
    mail.error = draft.error[:_ERROR_MAX] if draft.error else None
    mail.move_to(MailState.SKIPPED, at=now, reason=draft.reason)
