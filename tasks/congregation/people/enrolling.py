"""Putting members into groups, and taking them out."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tasks.congregation.people.belonging import one, put, refuse_heads
from tasks.congregation.people.groups import locked_group, note
from tasks.errors import Conflict
from tasks.models import GroupMember
from tasks.operations.audit import Actor
from tasks.saying import say

MEMBERS_MAX: Final = 500


def add_member(session: Session, group_id: UUID, member_id: UUID, actor: Actor) -> None:
    """Put a member into a group; it leaves the one it was in.

    Raises:
        InvalidInput: there is no such member here.
        Conflict: the group is full, or the member is responsible for another one.
        NotFound: the session sees no such group.
    """
    row = locked_group(session, group_id)
    one(session, row.congregation_id, member_id, "member_id")
    refuse_heads(session, row.congregation_id, member_id, row.id, "member_id")
    mine = select(func.count()).where(GroupMember.group_id == row.id)
    if (session.scalar(mine) or 0) >= MEMBERS_MAX:
        raise Conflict(
            "group_full",
            say("A group has at most %(max)s members.", max=MEMBERS_MAX),
            field="member",
        )
    put(session, row, {member_id})
    note(session, actor, row, "edited", f"Put a member into “{row.name}”.")


def remove_member(
    session: Session, group_id: UUID, member_id: UUID, actor: Actor
) -> None:
    """Take a member out of a group.

    Raises:
        Conflict: the member is responsible for it, or the deputy.
        NotFound: the session sees no such group.
    """
    row = locked_group(session, group_id)
    if member_id in (row.responsible_id, row.deputy_id):
        raise Conflict(
            "leads_group",
            say(
                "Who is responsible for a group, and the deputy, belong to it. Put "
                "somebody else in their place first."
            ),
        )
    session.execute(
        delete(GroupMember).where(
            GroupMember.member_id == member_id, GroupMember.group_id == row.id
        )
    )
    note(session, actor, row, "edited", f"Took a member out of “{row.name}”.")
