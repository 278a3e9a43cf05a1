"""What the pages of members read; every list is paged or capped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.congregation.names import folded
from tasks.errors import InvalidInput, NotFound
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
from tasks.saying import mark, say

#: The tabs: word in the address -> what stands there.
TABS: Final[Mapping[str, str]] = {
    "": mark("Here"),
    "inactive": mark("Inactive"),
    "left": mark("Left"),
    "held": mark("Held"),
    "anonymised": mark("Anonymised"),
    "all": mark("All"),
}
_SHOWN_MAX: Final = 50
_WORDS_MAX: Final = 6


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


def listed(
    session: Session, tab: str, text: str, cursor: str | None, limit: int
) -> Page[Row[Member, Congregation, str | None]]:
    """Return a page of members with congregation and group, by name.

    Raises:
        InvalidInput: there is no such tab.
    """
    statement = (
        select(Member, Congregation, Group.name)
        .join(Congregation, Congregation.id == Member.congregation_id)
        .outerjoin(GroupMember, GroupMember.member_id == Member.id)
        .outerjoin(Group, Group.id == GroupMember.group_id)
        .where(*_of_tab(tab))
    )
    for word in folded(text).split()[:_WORDS_MAX]:
        statement = statement.where(Member.search_name.contains(word, autoescape=True))
    return paginate(session, statement, [Member.search_name, Member.id], cursor, limit)


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


def _of_tab(tab: str) -> tuple[ColumnElement[bool], ...]:
    living = Member.anonymised_at.is_(None)
    conditions: dict[str, tuple[ColumnElement[bool], ...]] = {
        "": (living, Member.left_on.is_(None)),
        "inactive": (living, Member.left_on.is_(None), Member.inactive_on.is_not(None)),
        "left": (living, Member.left_on.is_not(None)),
        "held": (living, Member.hold_until.is_not(None)),
        "anonymised": (Member.anonymised_at.is_not(None),),
        "all": (),
    }
    if tab not in conditions:
        raise InvalidInput(
            "bad_filter", say("The filter in this address cannot be read."), field="tab"
        )
    return conditions[tab]


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
