"""Whose accounts are meant: those of members, and those with a duty."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.models.member import Account, AccountDuty, Duty

_CHUNK: Final = 500


def accounts_of_members(
    session: Session, congregation_id: UUID, members: Sequence[UUID]
) -> Mapping[UUID, Sequence[UUID]]:
    """Return the active accounts of each member; some have none."""
    found: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for start in range(0, len(members), _CHUNK):
        rows = session.execute(
            select(Account.member_id, Account.id).where(
                Account.congregation_id == congregation_id,
                among(session, Account.member_id, members[start : start + _CHUNK]),
                Account.is_active,
            )
        )
        for member_id, account_id in rows:
            if member_id is not None:
                found[member_id].append(account_id)
    return found


def accounts_with_duties(
    session: Session, congregation_id: UUID, duties: Sequence[str]
) -> Mapping[str, Sequence[UUID]]:
    """Return the active accounts that have each duty, in the order of their ids."""
    found: defaultdict[str, list[UUID]] = defaultdict(list)
    if not duties:
        return found
    rows = session.execute(
        select(Duty.key, Account.id)
        .join(AccountDuty, AccountDuty.duty_id == Duty.id)
        .join(Account, Account.id == AccountDuty.account_id)
        .where(
            Duty.congregation_id == congregation_id,
            Duty.key.in_(duties),
            Account.is_active,
        )
        .order_by(Account.id)
    )
    for key, account_id in rows:
        found[key].append(account_id)
    return found
