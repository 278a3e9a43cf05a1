"""Groups: some members, and who is responsible for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.days import locked
from tasks.congregation.people.belonging import one, put, refuse_heads
from tasks.congregation.texts import line
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Group, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

NAME_MAX: Final = 120


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """What an operator may say about a group."""

    name: str
    responsible_id: UUID | None
    deputy_id: UUID | None = None  # None: there is none


def create_group(
    session: Session, congregation_id: UUID, draft: GroupDraft, actor: Actor
) -> Group:
    """Add a group; who is responsible belongs to it.

    Raises:
        InvalidInput: a field cannot be accepted; ``field`` names it.
        Conflict: the name is taken, or a member is responsible elsewhere.
        NotFound: the session sees no such congregation.
    """
    locked(session, congregation_id)
    name, responsible_id = _checked(session, congregation_id, draft, None)
    row = Group(
        id=new_id(),
        congregation_id=congregation_id,
        name=name,
        responsible_id=responsible_id,
        deputy_id=draft.deputy_id,
    )
    session.add(row)
    session.flush()
    _enrol(session, row)
    note(session, actor, row, "created", f"Made the group “{row.name}”.")
    return row


def edit_group(
    session: Session,
    group_id: UUID,
    draft: GroupDraft,
    actor: Actor,
    *,
    version: int | None = None,
) -> Group:
    """Change a group's name, or who is responsible for it.

    Args:
        version: what the operator saw; None: whatever there is.

    Raises:
        InvalidInput: a field cannot be accepted.
        Conflict: the name is taken, a member is responsible elsewhere, or somebody
            else changed it meanwhile.
        NotFound: the session sees no such group.
    """
    row = locked_group(session, group_id)
    if version is not None and row.version != version:
        raise Conflict(
            "changed_meanwhile",
            say("Somebody changed this group while you were at it; look at it anew."),
        )
    name, responsible_id = _checked(session, row.congregation_id, draft, row.id)
    row.name, row.responsible_id, row.deputy_id = name, responsible_id, draft.deputy_id
    row.version += 1
    session.flush()
    _enrol(session, row)
    note(session, actor, row, "edited", f"Changed the group “{row.name}”.")
    return row


def delete_group(session: Session, group_id: UUID, actor: Actor) -> None:
    """Delete a group; its members stay, without one.

    Raises:
        NotFound: the session sees no such group.
    """
    row = locked_group(session, group_id)
    note(session, actor, row, "deleted", f"Deleted the group “{row.name}”.")
    session.delete(row)
    session.flush()


def group(session: Session, group_id: UUID) -> Group:
    """Return a group.

    Raises:
        NotFound: the session sees none.
    """
    row = session.get(Group, group_id, populate_existing=True)
    if row is None:
        raise NotFound("unknown_group", say("There is no such group."))
    return row


def locked_group(session: Session, group_id: UUID) -> Group:
    """Return a group as it is now, its congregation locked: who leads it stays so.

    Raises:
        NotFound: the session sees none, or somebody deleted it just now.
    """
    locked(session, group(session, group_id).congregation_id)
    return group(session, group_id)


def _checked(
    session: Session, congregation_id: UUID, draft: GroupDraft, but: UUID | None
) -> tuple[str, UUID]:
    """Return the name and who is responsible, as they are kept."""
    name = line(draft.name, "name", NAME_MAX, what=say("A name"), required=True)
    others = select(Group).where(Group.congregation_id == congregation_id)
    others = others.where(Group.id != but) if but else others
    if session.scalar(others.where(Group.name == name)) is not None:
        said = say("There is a group “%(name)s”.", name=name)
        raise Conflict("name_taken", said, field="name")
    head = draft.responsible_id
    if head is None:
        raise InvalidInput(
            "missing", say("Choose who is responsible."), field="responsible_id"
        )
    one(session, congregation_id, head, "responsible_id")
    refuse_heads(session, congregation_id, head, but, "responsible_id")
    if draft.deputy_id is not None:
        one(session, congregation_id, draft.deputy_id, "deputy_id")
        refuse_heads(session, congregation_id, draft.deputy_id, but, "deputy_id")
    if draft.deputy_id == head:
        raise InvalidInput(
            "own_deputy", say("Nobody is their own deputy."), field="deputy_id"
        )
    return name, head


def _enrol(session: Session, row: Group) -> None:
    """Let who leads the group belong to it."""
    put(session, row, {row.responsible_id, row.deputy_id} - {None})


def note(session: Session, actor: Actor, row: Group, verb: str, summary: str) -> None:
    """Add the audit entry ``group.<verb>``."""
    subject = Subject("group", str(row.id), row.congregation_id)
    record(session, actor, f"group.{verb}", subject, summary)
