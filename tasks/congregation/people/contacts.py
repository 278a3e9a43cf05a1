"""Whom to call when something happens to a member, and what members agreed to."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from tasks.congregation.people.members import PHONE_MAX, living
from tasks.congregation.texts import line
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Consent, EmergencyContact, Member, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import mark, say

CONTACTS_MAX: Final = 10
NAME_MAX: Final = 200
RELATION_MAX: Final = 80
#: What members may agree to -> how operators read it.
CONSENTS: Final = {
    "email": mark("receives mails"),
    "photo": mark("may be seen on photographs"),
    "directory": mark("stands in the directory"),
}


def add_contact(
    session: Session,
    member_id: UUID,
    *,
    name: str,
    phone: str,
    relation: str,
    actor: Actor,
) -> EmergencyContact:
    """Add somebody to call.

    Raises:
        InvalidInput: a field cannot be accepted.
        Conflict: there are ``CONTACTS_MAX``, or the member is anonymised.
        NotFound: the session sees no such member.
    """
    member = living(session, member_id)
    mine = select(func.count()).where(EmergencyContact.member_id == member_id)
    if (session.scalar(mine) or 0) >= CONTACTS_MAX:
        raise Conflict(
            "too_many",
            say("A member has at most %(max)s contacts; remove one.", max=CONTACTS_MAX),
        )
    row = EmergencyContact(
        id=new_id(),
        congregation_id=member.congregation_id,
        member_id=member_id,
        name=line(name, "name", NAME_MAX, what=say("A name"), required=True),
        phone=line(
            phone, "phone", PHONE_MAX, what=say("A phone number"), required=True
        ),
        relation=line(relation, "relation", RELATION_MAX, what=say("The relation")),
    )
    session.add(row)
    session.flush()
    _note(session, actor, member, "edited", "Added an emergency contact to a member.")
    return row


def remove_contact(
    session: Session, member_id: UUID, contact_id: UUID, actor: Actor
) -> None:
    """Remove somebody to call.

    Raises:
        NotFound: the session sees no such contact of this member.
    """
    member = living(session, member_id)
    row = session.get(EmergencyContact, contact_id)
    if row is None or row.member_id != member_id:
        raise NotFound("unknown_contact", say("There is no such contact."))
    session.delete(row)
    _note(session, actor, member, "edited", "Removed an emergency contact.")


def give_consent(
    session: Session, member_id: UUID, kind: str, actor: Actor, now: datetime
) -> Consent:
    """Write down that a member agreed to something.

    Raises:
        InvalidInput: nobody asks for that.
        Conflict: it holds already, or the member is anonymised.
        NotFound: the session sees no such member.
    """
    member = living(session, member_id)
    if kind not in CONSENTS:
        raise InvalidInput(
            "unknown_consent", say("Choose what is agreed to."), field="kind"
        )
    if session.scalar(_holding(member_id, kind)) is not None:
        raise Conflict("consent_holds", say("The member has agreed to that already."))
    row = Consent(
        id=new_id(),
        congregation_id=member.congregation_id,
        member_id=member_id,
        kind=kind,
        given_at=now,
        ip=actor.ip or "",
    )
    session.add(row)
    session.flush()
    _note(session, actor, member, "consented", f"A member agreed: {CONSENTS[kind]}.")
    return row


def withdraw_consent(
    session: Session, member_id: UUID, kind: str, actor: Actor, now: datetime
) -> None:
    """Write down that a member takes back what they agreed to.

    Raises:
        Conflict: it does not hold, or the member is anonymised.
        NotFound: the session sees no such member.
    """
    member = living(session, member_id)
    row = session.scalar(_holding(member_id, kind))
    if row is None:
        raise Conflict("no_consent", say("The member has not agreed to that."))
    row.withdrawn_at = now
    _note(session, actor, member, "withdrew", "A member took a consent back.")


def _holding(member_id: UUID, kind: str) -> Select[Consent]:
    return select(Consent).where(
        Consent.member_id == member_id,
        Consent.kind == kind,
        Consent.withdrawn_at.is_(None),
    )


def _note(
    session: Session, actor: Actor, member: Member, verb: str, summary: str
) -> None:
    subject = Subject("member", str(member.id), member.congregation_id)
    record(session, actor, f"member.{verb}", subject, summary)
