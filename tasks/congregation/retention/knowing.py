"""What belongs to members in other tables, and the words by which they are known.

Read before anything is erased: afterwards nobody can tell any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, Select, or_, select
from sqlalchemy.orm import Session

from tasks.congregation.fates import People
from tasks.idn import in_letters
from tasks.models import (
    Account,
    Attribution,
    Congregation,
    Consent,
    EmergencyContact,
    Erased,
    Member,
    Suppression,
)
from tasks.models.notification import Notification

#: Shorter words than this are found everywhere, so they are left where they are.
WORD_MIN: Final = 5
_Rows = Select[*tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Known:
    """Whom to erase, and what they are called in texts of others."""

    people: People
    words: Sequence[str]  # the longest first
    left_on: dict[UUID, str]  # ISO days
    #: What the ledger is to say: kind and id.
    entities: Sequence[tuple[Erased, UUID]]


def known(
    session: Session,
    congregation: Congregation,
    member_ids: Sequence[UUID],
    now: datetime,
    *,
    account_ids: Sequence[UUID] = (),
) -> Known:
    """Read what there is of some members; at most a few hundred at once.

    Args:
        account_ids: accounts besides those of the members.
    """
    of = congregation.id
    members = _rows(session, _members(of, member_ids))
    accounts = _rows(session, _accounts(of, member_ids, account_ids))
    contacts = _rows(session, _contacts(of, member_ids))
    theirs = [row.id for row in accounts]
    addresses = {row.email for row in (*members, *accounts) if row.email}
    people = People(
        congregation_id=of,
        locale=congregation.locale,
        now=now,
        members=[row.id for row in members],
        accounts=theirs,
        addresses=sorted(addresses),
        subjects={
            "member": [str(row.id) for row in members],
            "account": [str(each) for each in theirs],
            "emergency_contact": [str(row.id) for row in contacts],
            "attribution": _ids(session, Attribution, of, member_ids),
            "consent": _ids(session, Consent, of, member_ids),
            "notification": _told_ids(session, of, theirs),
            "suppression": _stopped_ids(session, of, addresses),
        },
    )
    words = {*_names(members), *addresses, *map(in_letters, addresses)}
    words |= {text for row in members for text in (row.phone, row.address)}
    words |= {row.name for row in accounts}
    words |= {text for row in contacts for text in (row.name, row.phone)}
    return Known(
        people=people,
        words=sorted((w for w in words if len(w) >= WORD_MIN), key=len, reverse=True),
        left_on={row.id: row.left_on.isoformat() for row in members if row.left_on},
        entities=[
            *((Erased.MEMBER, row.id) for row in members),
            *((Erased.ACCOUNT, each) for each in theirs),
        ],
    )


def _rows(session: Session, statement: _Rows) -> Sequence[Row[Any]]:
    return session.execute(statement).all()


def _members(of: UUID, ids: Sequence[UUID]) -> _Rows:
    columns = (Member.id, Member.first_name, Member.last_name, Member.email)
    more = (Member.phone, Member.address, Member.left_on)
    return (
        select(*columns, *more)
        .where(Member.congregation_id == of, Member.id.in_(ids))
        .order_by(Member.id)
    )


def _accounts(of: UUID, member_ids: Sequence[UUID], ids: Sequence[UUID]) -> _Rows:
    return (
        select(Account.id, Account.email, Account.name)
        .where(
            Account.congregation_id == of,
            or_(Account.member_id.in_(member_ids), Account.id.in_(ids)),
        )
        .order_by(Account.id)
    )


def _contacts(of: UUID, ids: Sequence[UUID]) -> _Rows:
    contact = EmergencyContact
    return select(contact.id, contact.name, contact.phone).where(
        contact.congregation_id == of, contact.member_id.in_(ids)
    )


def _ids(
    session: Session,
    model: type[Attribution] | type[Consent],
    of: UUID,
    ids: Sequence[UUID],
) -> list[str]:
    found = select(model.id).where(
        model.congregation_id == of, model.member_id.in_(ids)
    )
    return [str(each) for each in session.scalars(found)]


def _told_ids(session: Session, of: UUID, account_ids: Sequence[UUID]) -> list[str]:
    if not account_ids:
        return []
    found = select(Notification.id).where(
        Notification.congregation_id == of, Notification.account_id.in_(account_ids)
    )
    return [str(each) for each in session.scalars(found)]


def _stopped_ids(session: Session, of: UUID, addresses: set[str]) -> list[str]:
    if not addresses:
        return []
    found = select(Suppression.id).where(
        Suppression.congregation_id == of, Suppression.address.in_(addresses)
    )
    return [str(each) for each in session.scalars(found)]


def _names(members: Sequence[Row[Any]]) -> Iterator[str]:
    """Yield whole names: a last name alone is also that of others."""
    for row in members:
        yield f"{row.first_name} {row.last_name}".strip()
        yield f"{row.last_name} {row.first_name}".strip()
        yield f"{row.last_name}, {row.first_name}"
