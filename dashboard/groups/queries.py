"""What the pages of groups read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session, aliased

from dashboard.paging import Key, Page, paginate
from tasks.congregation.people.enrolling import MEMBERS_MAX
from tasks.models import Congregation, Group, GroupMember, Member

HEAD: Final = aliased(Member)
DEPUTY: Final = aliased(Member)
#: By name.
KEYS: Final[tuple[Key, ...]] = (Group.name, Group.id)


def selected(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[Group, Congregation, Member, Member | None, int]:
    """Select groups with who leads them, and how many belong to each."""
    n_members = (
        select(func.count())
        .where(GroupMember.group_id == Group.id)
        .correlate(Group)
        .scalar_subquery()
    )
    return (
        select(Group, Congregation, HEAD, DEPUTY, n_members)
        .join(Congregation, Congregation.id == Group.congregation_id)
        .join(HEAD, HEAD.id == Group.responsible_id)
        .outerjoin(DEPUTY, DEPUTY.id == Group.deputy_id)
        .where(*wanted)
    )


def listed(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Row[Group, Congregation, Member, Member | None, int]]:
    """Return a page of groups, by name."""
    return paginate(session, selected(wanted), KEYS, cursor, limit)


def members(session: Session, group: Group) -> Sequence[Member]:
    """Return who belongs to a group, by name."""
    return session.scalars(
        select(Member)
        .join(GroupMember, GroupMember.member_id == Member.id)
        .where(GroupMember.group_id == group.id)
        .order_by(Member.search_name, Member.id)
        .limit(MEMBERS_MAX)
    ).all()


def member(session: Session, member_id: UUID | None) -> Member | None:
    """Return a member by id, if there is one."""
    return session.get(Member, member_id) if member_id else None
