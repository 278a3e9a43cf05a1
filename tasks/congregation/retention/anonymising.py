"""Anonymising one member at once, because an operator says so."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.columns import suffix
from tasks.congregation.days import local_day, locked
from tasks.congregation.retention.erasing import erase
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Congregation, Group, Member
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say
from tasks.saying.formats import dated


def anonymise(
    session: Session,
    member_id: UUID,
    actor: Actor,
    *,
    now: datetime,
    typed_name: str | None = None,
) -> str:
    """Erase a member for good, and return what they are called from now on.

    Who has not left yet leaves today.  Caller commits.

    Args:
        typed_name: what an operator typed to confirm it; ``None``: nobody was asked.

    Raises:
        NotFound: the session sees no such member.
        InvalidInput: the typed name is another one.
        Conflict: it was done before, a hold is on them, or a group needs them.
    """
    of = session.scalar(select(Member.congregation_id).where(Member.id == member_id))
    if of is None:
        raise _unknown()
    # Campaigns give out work under this lock; nobody is to get any meanwhile.
    congregation = locked(session, of)
    member = locked_member(session, member_id)
    today = local_day(now, congregation.timezone)
    _refuse(session, member, congregation)
    if member.hold_until is not None and member.hold_until >= today:
        raise Conflict(
            "on_hold",
            say(
                "%(name)s is on hold until %(day)s; end the hold first.",
                name=member.name,
                day=dated(member.hold_until, "dd MMMM y"),
            ),
        )
    if typed_name is not None and typed_name.split() != member.name.split():
        raise InvalidInput(
            "wrong_name",
            say("Type the name as it stands here: %(name)s", name=member.name),
            field="name",
        )
    if member.left_on is None:
        member.left_on = today
    erase(session, congregation, [member.id], actor.name, now)
    subject = Subject("member", str(member_id), congregation.id)
    called = suffix(member_id)
    record(session, actor, "member.anonymised", subject, f"Anonymised {called}.")
    return called


def locked_member(session: Session, member_id: UUID) -> Member:
    """Return the member, locked until the transaction ends.

    Raises:
        NotFound: the session sees no such member.
    """
    member = session.scalar(
        select(Member)
        .where(Member.id == member_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    if member is None:
        raise _unknown()
    return member


def _unknown() -> NotFound:
    return NotFound("unknown_member", say("There is no such member."))


def _refuse(session: Session, member: Member, congregation: Congregation) -> None:
    if member.anonymised_at is not None:
        raise Conflict("anonymised_already", say("This member is anonymised already."))
    group = session.scalar(
        select(Group.name).where(
            Group.congregation_id == congregation.id, Group.responsible_id == member.id
        )
    )
    if group is not None:
        raise Conflict(
            "is_responsible",
            say(
                "%(name)s is responsible for the group %(group)s; put somebody else in "
                "their place first.",
                name=member.name,
                group=group,
            ),
        )
