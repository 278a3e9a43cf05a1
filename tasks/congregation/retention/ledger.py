"""The ledger of erased people, applied anew: nobody comes back from an old archive."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, CompoundSelect, Select, and_, or_, select, union
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.congregation.columns import FORMER
from tasks.congregation.retention.erasing import EXTERNAL_REF, erase
from tasks.models import (
    Account,
    Congregation,
    Erased,
    Erasure,
    ExternalRef,
    Member,
)

#: Rows that are erased together.
_BATCH: Final = 200
#: Who asked, as the ledger's new rows say it: those of the accounts that came back.
AN_EARLIER_ONE: Final = "an earlier erasure"
_NONE: Final = UUID(int=0)


def reapply(session: Session, congregation_id: UUID, now: datetime) -> int:
    """Erase everybody again who stands in the ledger and has come back.

    Call it in the transaction of an import, once all of its rows are there: also the
    ledger's, with ``entity_id`` as this installation counts.  Whom the import added
    anew is found by ``external_ref``.  Who is responsible for a group is erased all
    the same, since an archive must bring nobody back.

    Returns how many members and accounts were erased.
    """
    session.flush()
    congregation = session.get_one(Congregation, congregation_id)
    n_erased, last = 0, _NONE
    while ids := _next(session, Member.id, _members(congregation_id), last):
        erase(session, congregation, ids, AN_EARLIER_ONE, now)
        n_erased, last = n_erased + len(ids), ids[-1]
    last = _NONE
    while ids := _next(session, Account.id, _accounts(congregation_id), last):
        erase(session, congregation, [], AN_EARLIER_ONE, now, account_ids=ids)
        n_erased, last = n_erased + len(ids), ids[-1]
    return n_erased


def _next(
    session: Session,
    key: InstrumentedAttribute[UUID],
    statement: Select[UUID],
    after: UUID,
) -> Sequence[UUID]:
    return session.scalars(
        statement.where(key > after).order_by(key).limit(_BATCH)
    ).all()


def _members(of: UUID) -> Select[UUID]:
    """Return members of the ledger who are known by name, or have a living account."""
    erased = _in_ledger(of, Erased.MEMBER)
    lives = select(Account.member_id).where(
        Account.congregation_id == of, Account.member_id.is_not(None), _lives()
    )
    is_back = or_(
        Member.anonymised_at.is_(None),
        Member.first_name.not_in(FORMER.values()),
        Member.id.in_(lives),
    )
    return select(Member.id).where(
        Member.congregation_id == of, Member.id.in_(erased), is_back
    )


def _accounts(of: UUID) -> Select[UUID]:
    """Return living accounts of the ledger, whosoever they belong to."""
    erased = _in_ledger(of, Erased.ACCOUNT)
    return select(Account.id).where(
        Account.congregation_id == of, Account.id.in_(erased), _lives()
    )


def _lives() -> ColumnElement[bool]:
    return or_(Account.anonymised_at.is_(None), Account.is_active, Account.name != "")


def _in_ledger(of: UUID, kind: Erased) -> CompoundSelect[UUID]:
    entered = and_(Erasure.congregation_id == of, Erasure.entity_type == kind)
    by_id = select(Erasure.entity_id).where(entered)
    by_ref = (
        select(ExternalRef.row_id)
        .join(
            Erasure,
            and_(
                Erasure.congregation_id == ExternalRef.congregation_id,
                Erasure.external_ref == EXTERNAL_REF,
            ),
        )
        .where(entered)
    )
    return union(by_id, by_ref)
