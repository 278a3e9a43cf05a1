"""What the pages of notifications read: groups that settle, digests, mails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import func, literal_column, select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.congregation.notifications.kinds import CATEGORIES, DUTIES, KINDS
from tasks.congregation.notifications.telling import IS_PENDING
from tasks.errors import NotFound
from tasks.models import (
    Account,
    Congregation,
    Digest,
    DigestItem,
    DigestMail,
    MailState,
    Notification,
    Reason,
)

#: Groups that the page lists; a congregation has one for each category at most.
GROUPS_MAX: Final = 100
#: Notifications and mails that the page of one digest lists.
SHOWN_MAX: Final = 500
#: Counting failed mails stops here.
COUNT_CAP: Final = 1_000


@dataclass(frozen=True, slots=True)
class Group:
    """What settles of one category: the digest that it is going to be."""

    congregation: Congregation
    category: str
    n: int
    first_at: datetime
    leaves_at: datetime  # when the first of it leaves

    @property
    def title(self) -> str:
        """Its category, for people."""
        return category_title(self.category)


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


@dataclass(frozen=True, slots=True)
class Item:
    """One notification as a page shows it."""

    notification: Notification
    recipient: str  # an account's address, or a duty
    left_out: Reason | None = None  # of one mail

    @property
    def title(self) -> str:
        """Its type, for people."""
        kind = KINDS.get(self.notification.type)
        return kind.title if kind else self.notification.type


def category_title(category: str) -> str:
    """Return a category's name; one of another version is shown as it is."""
    return CATEGORIES.get(category, category)


def groups(session: Session) -> Sequence[Group]:
    """Return what settles, the first to leave first."""
    grouped = (
        select(
            Notification.congregation_id,
            Notification.category,
            func.count().label("n"),
            func.min(Notification.first_at).label("first_at"),
            func.min(Notification.settles_at).label("leaves_at"),
        )
        .where(IS_PENDING)
        .group_by(Notification.congregation_id, Notification.category)
        .subquery()
    )
    found = grouped.c
    rows = session.execute(
        select(Congregation, found.category, found.n, found.first_at, found.leaves_at)
        .join(grouped, found.congregation_id == Congregation.id)
        .order_by(found.leaves_at, found.category)
        .limit(GROUPS_MAX)
    )
    return [Group(*row) for row in rows]


def settling(
    session: Session, slug: str, category: str
) -> tuple[Congregation, list[Item]]:
    """Return what settles of one category, oldest first.

    Raises:
        NotFound: the session sees no such congregation, or there is no such category.
    """
    of = session.scalar(select(Congregation).filter_by(slug=slug))
    if of is None or category not in CATEGORIES:
        raise NotFound("unknown_group", "There is no such group of notifications.")
    rows = session.execute(
        select(Notification, Account.email)
        .outerjoin(Account, Account.id == Notification.account_id)
        .where(
            Notification.congregation_id == of.id,
            Notification.category == category,
            IS_PENDING,
        )
        .order_by(Notification.first_at, Notification.id)
        .limit(SHOWN_MAX)
    )
    return of, [Item(row, _recipient(row, email)) for row, email in rows]


def _recipient(row: Notification, email: str | None) -> str:
    duty = row.duty or ""
    return email or DUTIES.get(duty, duty)


def mails(
    session: Session,
    state: str,
    cursor: str | None,
    limit: int,
    *,
    digest_id: UUID | None = None,
    account_id: UUID | None = None,
) -> Page[MailRow]:
    """Return a page of mails, newest first; what is empty does not count."""
    statement = (
        select(DigestMail, Account, Digest.category, Congregation.name)
        .join(Account, Account.id == DigestMail.account_id)
        .join(Digest, Digest.id == DigestMail.digest_id)
        .join(Congregation, Congregation.id == DigestMail.congregation_id)
    )
    if state:
        statement = statement.where(DigestMail.state == state)
    if digest_id is not None:
        statement = statement.where(DigestMail.digest_id == digest_id)
    if account_id is not None:
        statement = statement.where(DigestMail.account_id == account_id)
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
    found = session.execute(
        select(DigestMail, Account, Digest.category, Congregation.name)
        .join(Account, Account.id == DigestMail.account_id)
        .join(Digest, Digest.id == DigestMail.digest_id)
        .join(Congregation, Congregation.id == DigestMail.congregation_id)
        .where(DigestMail.id == mail_id)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_mail", "There is no such mail.")
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
    return [Item(row, _recipient(row, email), reason) for row, email, reason in rows]


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
        raise NotFound("unknown_digest", "There is no such digest.")
    rows = session.execute(
        select(Notification, Account.email)
        .outerjoin(Account, Account.id == Notification.account_id)
        .where(Notification.digest_id == digest_id)
        .order_by(Notification.first_at, Notification.id)
        .limit(SHOWN_MAX)
    )
    items = [Item(row, _recipient(row, email)) for row, email in rows]
    return found[0], found[1], items
