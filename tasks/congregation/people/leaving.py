"""Members who leave, and who come back."""

from __future__ import annotations

from datetime import date, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.days import today_of
from tasks.congregation.people.members import living, note, refuse_ahead, touch
from tasks.congregation.texts import some_day
from tasks.errors import Conflict, InvalidInput
from tasks.models import Member
from tasks.operations.audit import Actor
from tasks.saying import say


def leave(
    session: Session, member_id: UUID, on: date | None, actor: Actor, now: datetime
) -> Member:
    """Write down that a member has left; the time until it is forgotten begins.

    Raises:
        InvalidInput: the day lies ahead, or before the day of joining.
        Conflict: the member has left already, or is anonymised.
        NotFound: the session sees no such member.
    """
    row = living(session, member_id)
    if row.left_on is not None:
        said = say("This member has left on %(day)s.", day=row.left_on)
        raise Conflict("has_left", said)
    left_on = some_day(on, "left_on", what=say("The day of leaving"))
    refuse_ahead(left_on, today_of(session, row.congregation_id, now), "left_on")
    if row.joined_on is not None and left_on < row.joined_on:
        raise InvalidInput(
            "left_before_joining",
            say(
                "The member joined on %(day)s; nobody leaves before.", day=row.joined_on
            ),
            field="left_on",
        )
    row.left_on = left_on
    touch(row, now)
    note(session, actor, row, "left", f"A member left on {left_on}.")
    return row


def come_back(session: Session, member_id: UUID, actor: Actor, now: datetime) -> Member:
    """Write down that a member who left is back; nothing is forgotten then.

    Raises:
        Conflict: the member has not left, or is anonymised.
        NotFound: the session sees no such member.
    """
    row = living(session, member_id)
    if row.left_on is None:
        raise Conflict("has_not_left", say("This member has not left."))
    row.left_on = row.noticed_at = None
    touch(row, now)
    note(session, actor, row, "returned", "A member who had left is back.")
    return row
