"""What the next run would do, without doing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from tasks.congregation.retention.candidates import (
    Today,
    is_due,
    is_held,
    is_past,
    is_responsible,
    is_to_be_noticed,
)
from tasks.lane import COUNT_CAP
from tasks.models import Account, Attribution, Member

#: Members that a report names.
SHOWN_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class Foretold:
    """What a run would do now; counts stop at ``COUNT_CAP``."""

    today: Today
    n_due: int  # would be anonymised
    due: Sequence[Member]  # the first of them, longest gone first
    n_noticed: int  # would be announced
    n_blocked: int  # have to stay, since a group needs them
    n_held: int  # their months are over, and an operator holds on to them
    n_open_work: int  # attributions of theirs that would end today
    n_accounts: int  # accounts that would be closed


def foretell(session: Session, today: Today) -> Foretold:
    """Say what a run would do; nothing is changed."""
    goes = and_(is_due(today), ~is_responsible())
    due = session.scalars(
        select(Member).where(goes).order_by(Member.left_on, Member.id).limit(SHOWN_MAX)
    ).all()
    theirs = select(Member.id).where(goes)
    return Foretold(
        today=today,
        n_due=_count(session, goes),
        due=due,
        n_noticed=_count(session, is_to_be_noticed(today)),
        n_blocked=_count(session, and_(is_due(today), is_responsible())),
        n_held=_count(session, and_(is_past(today), is_held(today))),
        n_open_work=_count_rows(
            session,
            and_(
                Attribution.congregation_id == today.congregation_id,
                Attribution.member_id.in_(theirs),
                Attribution.ended_on.is_(None),
            ),
            Attribution,
        ),
        n_accounts=_count_rows(
            session,
            and_(
                Account.congregation_id == today.congregation_id,
                Account.member_id.in_(theirs),
                Account.anonymised_at.is_(None),
            ),
            Account,
        ),
    )


def _count(session: Session, where: ColumnElement[bool]) -> int:
    return _count_rows(session, where, Member)


def _count_rows(
    session: Session,
    where: ColumnElement[bool],
    model: type[Member] | type[Attribution] | type[Account],
) -> int:
    some = select(model.id).where(where).limit(COUNT_CAP).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0
