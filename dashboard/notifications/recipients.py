"""What the pages of recipients read: accounts, their wishes, and what they will get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import Session

from dashboard.notifications.groups import category_title
from dashboard.paging import Key, Page, paginate
from tasks.congregation.notifications.claiming import notifications_of
from tasks.congregation.notifications.drafting import Ask, Draft, drafts, sentence_of
from tasks.congregation.notifications.kinds import CATEGORIES, DUTIES, KINDS
from tasks.congregation.notifications.telling import IS_PENDING
from tasks.congregation.notifications.wishes import Wishes, wishes_of
from tasks.errors import NotFound
from tasks.models import (
    Account,
    AccountDuty,
    Congregation,
    DigestMail,
    Duty,
    Notification,
)
from tasks.saying import say

#: Notifications of one category that a preview is made of.
PREVIEW_MAX: Final = 500

#: By address.
KEYS: Final[tuple[Key, ...]] = (Account.email, Account.id)


@dataclass(frozen=True, slots=True)
class Coming:
    """The mail that one category is going to be for an account, as of now."""

    category: str
    draft: Draft

    @property
    def title(self) -> str:
        """Its category, for people."""
        return category_title(self.category)

    @property
    def why_not(self) -> str:
        """Why there will be no mail; empty when there will be one."""
        return sentence_of(self.draft)


def selected(wanted: Sequence[ColumnElement[bool]]) -> Select[Account, str]:
    """Select accounts with their congregations' names."""
    return (
        select(Account, Congregation.name)
        .join(Congregation, Congregation.id == Account.congregation_id)
        .where(Account.anonymised_at.is_(None), *wanted)
    )


def recipients(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[tuple[Account, str]]:
    """Return a page of accounts with their congregations' names, by address."""
    page = paginate(session, selected(wanted), KEYS, cursor, limit)
    return Page(
        [(row, name) for row, name in page.rows],
        page.next_cursor,
        page.previous_cursor,
    )


def recipient(session: Session, account_id: UUID) -> tuple[Account, Congregation]:
    """Return one account and its congregation.

    Raises:
        NotFound: the session sees no such account.
    """
    found = session.execute(
        select(Account, Congregation)
        .join(Congregation, Congregation.id == Account.congregation_id)
        .where(Account.id == account_id)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_account", say("There is no such account."))
    return found[0], found[1]


def duty_name(duty: Duty) -> str:
    """Return what operators read: duties of ours have a name in each language."""
    return say(DUTIES[duty.key]) if DUTIES.get(duty.key) == duty.name else duty.name


def duties_of(session: Session, account_id: UUID) -> Sequence[Duty]:
    """Return the duties of an account."""
    return session.scalars(
        select(Duty)
        .join(AccountDuty, AccountDuty.duty_id == Duty.id)
        .where(AccountDuty.account_id == account_id)
        .order_by(Duty.name)
    ).all()


def wishes(session: Session, account_id: UUID) -> Wishes:
    """Return what an account wants; it exists."""
    return wishes_of(session, [account_id])[account_id]


def coming(session: Session, account: Account) -> Sequence[Coming]:
    """Return the mails that an account is going to get of what settles now."""
    waiting = _waiting(session, account)
    asks = [Ask(account.id, rows) for rows in waiting.values()]
    made = drafts(session, asks) if asks else []
    return [
        Coming(category, draft) for category, draft in zip(waiting, made, strict=True)
    ]


def _waiting(
    session: Session, account: Account
) -> Mapping[str, Sequence[Notification]]:
    duties = [duty.key for duty in duties_of(session, account.id)]
    rows = session.scalars(
        select(Notification)
        .where(
            Notification.congregation_id == account.congregation_id,
            or_(Notification.account_id == account.id, Notification.duty.in_(duties)),
            IS_PENDING,
        )
        .order_by(Notification.first_at, Notification.id)
        .limit(PREVIEW_MAX)
    ).all()
    told = [row for row in rows if not _is_own_deed(row, account)]
    found = {
        category: [row for row in told if row.category == category]
        for category in CATEGORIES
    }
    return {category: several for category, several in found.items() if several}


def _is_own_deed(row: Notification, account: Account) -> bool:
    kind = KINDS.get(row.type)
    return row.actor_id == account.id and not (kind and kind.tells_actor)


def draft_of(session: Session, mail: DigestMail) -> Draft:
    """Return what a mail says, made anew of today's records."""
    told = notifications_of(session, [mail.id]).get(mail.id, ())
    (draft,) = drafts(session, [Ask(mail.account_id, told)])
    return draft
