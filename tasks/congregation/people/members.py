"""Members: taken in, and changed; how they leave stands in ``leaving``.

The audit log says which fields changed and never what they hold: what is known of a
person is forgotten with the person.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.days import today_of
from tasks.congregation.names import folded
from tasks.congregation.texts import day, line, notes, one_of
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Gender, Member, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.outbound.mailboxes import BadAddress, normal_address
from tasks.saying import say

NAME_MAX: Final = 120
PHONE_MAX: Final = 40
ADDRESS_MAX: Final = 300
_SEARCH_MAX: Final = 255


@dataclass(frozen=True, slots=True)
class MemberDraft:
    """What an operator may say about a member."""

    first_name: str
    last_name: str
    gender: str = ""  # empty: not known
    birth_date: date | None = None
    baptism_date: date | None = None
    email: str = ""
    phone: str = ""
    address: str = ""
    notes: str = ""
    is_publisher: bool = True
    is_elder: bool = False
    is_servant: bool = False
    is_anointed: bool = False
    joined_on: date | None = None
    inactive_on: date | None = None  # None: active


def create_member(
    session: Session,
    congregation_id: UUID,
    draft: MemberDraft,
    actor: Actor,
    now: datetime,
) -> Member:
    """Take a member in.

    Raises:
        InvalidInput: a field cannot be accepted; ``field`` names it.
        NotFound: the session sees no such congregation.
    """
    values = _checked(draft, today_of(session, congregation_id, now))
    row = Member(id=new_id(), congregation_id=congregation_id, **values)
    session.add(row)
    session.flush()
    note(session, actor, row, "created", "Took a member in.")
    return row


def edit_member(
    session: Session,
    member_id: UUID,
    draft: MemberDraft,
    actor: Actor,
    now: datetime,
    *,
    version: int | None = None,
) -> bool:
    """Change what is known of a member; False: it was known so already.

    Args:
        version: what the operator saw; None: whatever there is.

    Raises:
        InvalidInput: a field cannot be accepted.
        Conflict: the member is anonymised, or somebody else changed it meanwhile.
        NotFound: the session sees no such member.
    """
    row = living(session, member_id)
    if version is not None and row.version != version:
        raise Conflict(
            "changed_meanwhile",
            say("Somebody changed this member while you were at it; look at it anew."),
        )
    values = _checked(draft, today_of(session, row.congregation_id, now))
    changed = [name for name, value in values.items() if getattr(row, name) != value]
    if not changed:
        return False
    for name in changed:
        setattr(row, name, values[name])
    touch(row, now)
    words = ", ".join(name for name in changed if name != "search_name")
    note(session, actor, row, "edited", f"Changed of a member: {words}.")
    return True


def living(session: Session, member_id: UUID) -> Member:
    """Return a member that is not anonymised, locked.

    Raises:
        Conflict: it is anonymised, which is final.
        NotFound: the session sees no such member.
    """
    row = session.scalar(
        select(Member)
        .where(Member.id == member_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise NotFound("unknown_member", say("There is no such member."))
    if row.anonymised_at is not None:
        raise Conflict(
            "anonymised", say("This member was anonymised; that cannot be taken back.")
        )
    return row


def _checked(draft: MemberDraft, today: date) -> dict[str, Any]:
    values = asdict(draft)
    for name, what in (
        ("first_name", say("A first name")),
        ("last_name", say("A last name")),
    ):
        values[name] = line(values[name], name, NAME_MAX, what=what, required=True)
    values["phone"] = line(draft.phone, "phone", PHONE_MAX, what=say("A phone number"))
    values["address"] = line(
        draft.address, "address", ADDRESS_MAX, what=say("An address")
    )
    values["notes"] = notes(draft.notes)
    values["email"] = _email(draft.email)
    gender = draft.gender
    values["gender"] = one_of(gender, Gender, "gender") if gender else None
    days = (
        ("birth_date", say("The day of birth")),
        ("baptism_date", say("The day of baptism")),
        ("joined_on", say("The day of joining")),
        ("inactive_on", say("The day since which the member is inactive")),
    )
    for name, what in days:
        found = day(values[name], name, what=what)
        if found is not None:
            refuse_ahead(found, today, name)
    full = folded(f"{values['last_name']} {values['first_name']}")
    return values | {"search_name": full[:_SEARCH_MAX]}


def _email(text: str) -> str:
    if not text.strip():
        return ""
    try:
        return normal_address(text)
    except BadAddress as error:
        raise InvalidInput("email_invalid", str(error), field="email") from error


def refuse_ahead(found: date, today: date, field: str) -> None:
    """Refuse a day that is still to come.

    Raises:
        InvalidInput: it is.
    """
    if found > today:
        raise InvalidInput(
            "day_ahead",
            say("This day lies ahead; today is %(today)s.", today=today),
            field=field,
        )


def touch(row: Member, now: datetime) -> None:
    """Mark a member as changed."""
    row.version += 1
    row.updated_at = now


def note(session: Session, actor: Actor, row: Member, verb: str, summary: str) -> None:
    """Add the audit entry ``member.<verb>``."""
    subject = Subject("member", str(row.id), row.congregation_id)
    record(session, actor, f"member.{verb}", subject, summary)
