"""What the pages of members read; every list is paged or capped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.errors import NotFound
from tasks.models import (
    Attribution,
    Congregation,
    Consent,
    EmergencyContact,
    Group,
    GroupMember,
    Member,
    Territory,
)
from tasks.saying import meant, say

#: The tabs: word in the address -> what stands there.
TABS: Final[Mapping[str, str]] = {
    "": meant("members", "Here"),
    "inactive": meant("members", "Inactive"),
    "left": meant("members", "Left"),
    "held": meant("members", "Held"),
    "anonymised": meant("members", "Anonymised"),
    "all": meant("members", "All"),
}
#: By name.
KEYS: Final[tuple[Key, ...]] = (Member.search_name, Member.id)
_SHOWN_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class One:
    """A member, and what belongs to it."""

    row: Member
    congregation: Congregation
    group: Group | None
    leads: Sequence[Group]
    contacts: Sequence[EmergencyContact]
    consents: Sequence[Consent]
    work: Sequence[Row[Attribution, Territory]]


def selected(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[Member, Congregation, str | None]:
    """Select members with their congregation and their group's name."""
    return (
        select(Member, Congregation, Group.name)
        .join(Congregation, Congregation.id == Member.congregation_id)
        .outerjoin(GroupMember, GroupMember.member_id == Member.id)
        .outerjoin(Group, Group.id == GroupMember.group_id)
        .where(*wanted)
    )


def listed(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Row[Member, Congregation, str | None]]:
    """Return a page of members with congregation and group, by name."""
    return paginate(session, selected(wanted), KEYS, cursor, limit)


def member(session: Session, member_id: UUID) -> One:
    """Return a member with all that its page shows; six queries.

    Raises:
        NotFound: the session sees none.
    """
    found = session.execute(
        select(Member, Congregation, Group)
        .join(Congregation, Congregation.id == Member.congregation_id)
        .outerjoin(GroupMember, GroupMember.member_id == Member.id)
        .outerjoin(Group, Group.id == GroupMember.group_id)
        .where(Member.id == member_id)
        .execution_options(populate_existing=True)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_member", say("There is no such member."))
    row, congregation, group = found
    return One(
        row,
        congregation,
        group,
        leads=_leads(session, row),
        contacts=_contacts(session, row),
        consents=_consents(session, row),
        work=_work(session, row),
    )


def _leads(session: Session, row: Member) -> Sequence[Group]:
    """Return the groups that the member is responsible for, or the deputy of."""
    return session.scalars(
        select(Group)
        .where(
            Group.congregation_id == row.congregation_id,
            (Group.responsible_id == row.id) | (Group.deputy_id == row.id),
        )
        .order_by(Group.name)
    ).all()


def _contacts(session: Session, row: Member) -> Sequence[EmergencyContact]:
    mine = select(EmergencyContact).where(EmergencyContact.member_id == row.id)
    return session.scalars(mine.order_by(EmergencyContact.id).limit(_SHOWN_MAX)).all()


def _consents(session: Session, row: Member) -> Sequence[Consent]:
    mine = select(Consent).where(Consent.member_id == row.id)
    return session.scalars(mine.order_by(Consent.id.desc()).limit(_SHOWN_MAX)).all()


def _work(session: Session, row: Member) -> Sequence[Row[Attribution, Territory]]:
    """Return what the member works or worked on, open work first."""
    mine = select(Attribution, Territory).join(
        Territory, Territory.id == Attribution.territory_id
    )
    return session.execute(
        mine.where(
            Attribution.congregation_id == row.congregation_id,
            Attribution.member_id == row.id,
        )
        .order_by(
            Attribution.ended_on.is_not(None),
            Attribution.started_on.desc(),
            Attribution.id,
        )
        .limit(_SHOWN_MAX)
    ).all()
