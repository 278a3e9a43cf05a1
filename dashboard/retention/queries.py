"""What the pages of retention read; every list is paged or capped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from dashboard.paging import Page, paginate
from tasks.congregation.retention.candidates import (
    Today,
    due_on,
    is_due,
    is_leaving,
    is_responsible,
)
from tasks.lanes.retention import NAME
from tasks.models import (
    BlockReason,
    Congregation,
    DailyRun,
    Erasure,
    Group,
    Member,
    RetentionBlock,
)

#: Members of the list of blocks that a page shows.
BLOCKS_MAX: Final = 200
#: How congregations are listed.
KEYS: Final = (Congregation.name, Congregation.id)
#: How erasures are listed.
LEDGER_KEYS: Final = (Erasure.requested_at.desc(), Erasure.id.desc())


@dataclass(frozen=True, slots=True)
class Ticking:
    """Somebody who left, and how far their clock is."""

    member: Member
    due_on: date
    group: Group | None  # that needs somebody in their place first
    today: date

    @property
    def is_held(self) -> bool:
        """Whether an operator holds on to them today."""
        until = self.member.hold_until
        return until is not None and until >= self.today

    @property
    def is_due(self) -> bool:
        """Whether the next run takes them."""
        return self.due_on <= self.today and self.group is None


@dataclass(frozen=True, slots=True)
class Blocked:
    """Somebody whose time has come and who has to stay."""

    block: RetentionBlock
    member: Member
    group: Group | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A congregation in the list."""

    congregation: Congregation
    n_leaving: int
    n_blocked: int
    run: DailyRun | None


def with_runs(
    conditions: Sequence[ColumnElement[bool]],
) -> Select[Congregation, DailyRun]:
    """Select congregations, each with how the lane was last done with it, if ever."""
    is_its = and_(DailyRun.congregation_id == Congregation.id, DailyRun.lane == NAME)
    return select(Congregation, DailyRun).outerjoin(DailyRun, is_its).where(*conditions)


def congregations(
    session: Session,
    conditions: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Summary]:
    """Return a page of the congregations by name, with counts; four queries."""
    statement = select(Congregation).where(*conditions)
    page = paginate(session, statement, KEYS, cursor, limit)
    ids = [row.id for row in page.rows]
    leaving = _counts(
        session,
        Member.congregation_id,
        Member.congregation_id.in_(ids),
        Member.left_on.is_not(None),
        Member.anonymised_at.is_(None),
    )
    blocked = _counts(
        session,
        RetentionBlock.congregation_id,
        RetentionBlock.congregation_id.in_(ids),
    )
    runs = {
        run.congregation_id: run
        for run in session.scalars(
            select(DailyRun).where(
                DailyRun.congregation_id.in_(ids), DailyRun.lane == NAME
            )
        )
    }
    rows = [
        Summary(row, leaving.get(row.id, 0), blocked.get(row.id, 0), runs.get(row.id))
        for row in page.rows
    ]
    return Page(rows, page.next_cursor, page.previous_cursor)


def last_run(session: Session, congregation_id: UUID) -> DailyRun | None:
    """Return when the lane last looked at the congregation; ``None``: never."""
    return session.scalar(
        select(DailyRun).where(
            DailyRun.congregation_id == congregation_id, DailyRun.lane == NAME
        )
    )


def ticking(
    session: Session, today: Today, cursor: str | None, limit: int
) -> Page[Ticking]:
    """Return a page of those who left and are known by name, longest gone first."""
    keys = [Member.left_on, Member.id]
    statement = select(Member).where(is_leaving(today))
    page = paginate(session, statement, keys, cursor, limit)
    groups = _groups_of(session, today.congregation_id, [row.id for row in page.rows])
    rows = [
        Ticking(
            row,
            due_on(row.left_on, row.hold_until, today.months),
            groups.get(row.id),
            today.day,
        )
        for row in page.rows
        if row.left_on is not None  # all of them have left
    ]
    return Page(rows, page.next_cursor, page.previous_cursor)


def blocked(session: Session, today: Today) -> Sequence[Blocked]:
    """Return who has to stay, as long as it is still so, first seen first."""
    rows = session.execute(
        select(RetentionBlock, Member)
        .join(Member, Member.id == RetentionBlock.member_id)
        .where(
            RetentionBlock.congregation_id == today.congregation_id,
            is_due(today),
            is_responsible() | (RetentionBlock.reason == BlockReason.FAILED),
        )
        .order_by(RetentionBlock.first_seen_at, RetentionBlock.member_id)
        .limit(BLOCKS_MAX)
    ).all()
    groups = _groups_of(session, today.congregation_id, [row.id for _, row in rows])
    return [Blocked(block, row, groups.get(row.id)) for block, row in rows]


def still_blocked(congregation_id: UUID) -> Select[UUID]:
    """Return a statement of who is on the list of blocks and still has to be there."""
    return (
        select(RetentionBlock.member_id)
        .join(Member, Member.id == RetentionBlock.member_id)
        .where(
            RetentionBlock.congregation_id == congregation_id,
            Member.left_on.is_not(None),
            is_responsible() | (RetentionBlock.reason == BlockReason.FAILED),
        )
    )


def of_ledger(
    congregation_id: UUID, conditions: Sequence[ColumnElement[bool]]
) -> Select[Erasure]:
    """Select erasures of a congregation."""
    own = Erasure.congregation_id == congregation_id
    return select(Erasure).where(own, *conditions)


def ledger(
    session: Session,
    congregation_id: UUID,
    conditions: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Erasure]:
    """Return a page of the ledger, newest first."""
    statement = of_ledger(congregation_id, conditions)
    return paginate(session, statement, LEDGER_KEYS, cursor, limit)


def _groups_of(
    session: Session, congregation_id: UUID, ids: Sequence[UUID]
) -> Mapping[UUID, Group]:
    rows = session.scalars(
        select(Group).where(
            Group.congregation_id == congregation_id, Group.responsible_id.in_(ids)
        )
    )
    return {row.responsible_id: row for row in rows}


def _counts(
    session: Session,
    key: InstrumentedAttribute[UUID],
    *where: ColumnElement[bool],
) -> Mapping[UUID, int]:
    rows = session.execute(select(key, func.count()).where(*where).group_by(key))
    return {row[0]: row[1] for row in rows}
