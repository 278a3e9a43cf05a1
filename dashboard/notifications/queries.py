"""What the pages of notifications read: digests and mails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, literal_column, select
from sqlalchemy.orm import Session

from dashboard.notifications.groups import (
    SHOWN_MAX,
    Item,
    category_title,
    recipient_of,
)
from dashboard.paging import Page, paginate
from tasks.errors import NotFound
from tasks.models import (
    Account,
    Congregation,
    Digest,
    DigestItem,
    DigestMail,
    MailState,
    Notification,
)
from tasks.saying import say

#: Counting failed mails stops here.
COUNT_CAP: Final = 1_000


@dataclass(frozen=True, slots=True)
class MailRow:
    """One mail of a list."""

    mail: DigestMail
    account: Account
    category: str
    congregation: str

    @property
    def title(self) -> str:
        """What it is about, for people."""
        return category_title(self.category)

    @property
    def is_retry(self) -> bool:
        """Whether it failed before, and is tried again."""
        return self.mail.state is MailState.PENDING and bool(self.mail.error)


def selected(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[DigestMail, Account, str, str]:
    """Select mails in the order of the fields of ``MailRow``."""
    return (
        select(DigestMail, Account, Digest.category, Congregation.name)
        .join(Account, Account.id == DigestMail.account_id)
        .join(Digest, Digest.id == DigestMail.digest_id)
        .join(Congregation, Congregation.id == DigestMail.congregation_id)
        .where(*wanted)
    )


def mails(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[MailRow]:
    """Return a page of the mails for which all of ``wanted`` holds, newest first."""
    statement = selected(wanted)
    page = paginate(session, statement, [DigestMail.id.desc()], cursor, limit)
    rows = [MailRow(*row) for row in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def n_failed(session: Session) -> int:
    """Return how many mails failed, counted to ``COUNT_CAP``."""
    is_failed = DigestMail.state == literal_column("'failed'")
    found = select(DigestMail.id).where(is_failed).limit(COUNT_CAP).subquery()
    return session.scalar(select(func.count()).select_from(found)) or 0


def mail(session: Session, mail_id: UUID) -> MailRow:
    """Return one mail.

    Raises:
        NotFound: the session sees no such mail.
    """
    found = session.execute(selected([DigestMail.id == mail_id])).one_or_none()
    if found is None:
        raise NotFound("unknown_mail", say("There is no such mail."))
    return MailRow(*found)


def items_of(session: Session, mail_id: UUID) -> Sequence[Item]:
    """Return what one mail tells, and what was left out of it."""
    rows = session.execute(
        select(Notification, Account.email, DigestItem.reason)
        .join(DigestItem, DigestItem.notification_id == Notification.id)
        .outerjoin(Account, Account.id == Notification.account_id)
        .where(DigestItem.mail_id == mail_id)
        .order_by(Notification.first_at, Notification.id)
        .limit(SHOWN_MAX)
    )
    return [Item(row, recipient_of(row, email), reason) for row, email, reason in rows]


def digest(
    session: Session, digest_id: UUID
) -> tuple[Digest, Congregation, Sequence[Item]]:
    """Return one digest with what it tells.

    Raises:
        NotFound: the session sees no such digest.
    """
    found = session.execute(
        select(Digest, Congregation)
        .join(Congregation, Congregation.id == Digest.congregation_id)
        .where(Digest.id == digest_id)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_digest", say("There is no such digest."))
    rows = session.execute(
        select(Notification, Account.email)
        .outerjoin(Account, Account.id == Notification.account_id)
        .where(Notification.digest_id == digest_id)
        .order_by(Notification.first_at, Notification.id)
        .limit(SHOWN_MAX)
    )
    items = [Item(row, recipient_of(row, email)) for row, email in rows]
    return found[0], found[1], items
