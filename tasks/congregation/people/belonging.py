"""Who belongs to which group: a member to one at most, and who leads it to it."""

from __future__ import annotations

from collections.abc import Set
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from tasks.errors import Conflict, InvalidInput
from tasks.models import Group, GroupMember, Member
from tasks.saying import say


def one(session: Session, congregation_id: UUID, member_id: UUID, field: str) -> None:
    """Refuse somebody who is no member here, or no longer.

    Raises:
        InvalidInput: that is so.
    """
    row = session.get(Member, member_id)
    if row is None or row.congregation_id != congregation_id:
        raise InvalidInput("unknown_member", say("Choose a member."), field=field)
    if row.left_on is not None or row.anonymised_at is not None:
        raise InvalidInput("has_left", say("This member has left."), field=field)


def refuse_heads(
    session: Session,
    congregation_id: UUID,
    member_id: UUID,
    but: UUID | None,
    field: str,
) -> None:
    """Refuse somebody who leads another group than ``but``.

    Raises:
        Conflict: the member does.
    """
    heads = select(Group).where(
        Group.congregation_id == congregation_id,
        (Group.responsible_id == member_id) | (Group.deputy_id == member_id),
    )
    heads = heads.where(Group.id != but) if but else heads
    if (other := session.scalar(heads.limit(1))) is not None:
        raise Conflict(
            "leads_group",
            say(
                "This member leads the group “%(name)s”, and can be in one only.",
                name=other.name,
            ),
            field=field,
        )


def put(session: Session, row: Group, ids: Set[UUID | None]) -> None:
    """Put members into a group; they leave the one that they were in."""
    wanted = [id_ for id_ in ids if id_ is not None]
    session.execute(delete(GroupMember).where(GroupMember.member_id.in_(wanted)))
    values = {"congregation_id": row.congregation_id, "group_id": row.id}
    rows = [values | {"member_id": id_} for id_ in wanted]
    session.execute(insert(GroupMember), rows)
