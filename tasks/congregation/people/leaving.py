"""Members who leave, come back, or are kept from being anonymised for a while."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.days import today_of
from tasks.congregation.people.members import living, note, refuse_ahead, touch
from tasks.congregation.texts import line, some_day
from tasks.errors import Conflict, InvalidInput
from tasks.models import Member
from tasks.operations.audit import Actor

REASON_MAX: Final = 200
#: Nobody is kept from being forgotten for longer: ten years.
HOLD_MAX: Final = timedelta(days=3_653)


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
        raise Conflict("has_left", f"This member has left on {row.left_on}.")
    left_on = some_day(on, "left_on", what="The day of leaving")
    refuse_ahead(left_on, today_of(session, row.congregation_id, now), "left_on")
    if row.joined_on is not None and left_on < row.joined_on:
        raise InvalidInput(
            "left_before_joining",
            f"The member joined on {row.joined_on}; nobody leaves before.",
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
        raise Conflict("has_not_left", "This member has not left.")
    row.left_on = row.noticed_at = None
    touch(row, now)
    note(session, actor, row, "returned", "A member who had left is back.")
    return row


def hold(
    session: Session,
    member_id: UUID,
    until: date | None,
    reason: str,
    actor: Actor,
    now: datetime,
) -> Member:
    """Keep a member from being anonymised up to and including a day.

    Raises:
        InvalidInput: the day is past or too far ahead, or there is no reason.
        Conflict: the member is anonymised.
        NotFound: the session sees no such member.
    """
    row = living(session, member_id)
    last = some_day(until, "hold_until", what="The last day of the hold")
    today = today_of(session, row.congregation_id, now)
    if not today <= last <= today + HOLD_MAX:
        raise InvalidInput(
            "hold_out_of_range",
            "A hold ends today at the earliest, and in ten years at the latest.",
            field="hold_until",
        )
    row.hold_reason = line(
        reason, "hold_reason", REASON_MAX, what="A reason", required=True
    )
    row.hold_until = last
    touch(row, now)
    note(session, actor, row, "held", f"A member is kept until {last}.")
    return row


def release(session: Session, member_id: UUID, actor: Actor, now: datetime) -> Member:
    """End a hold.

    Raises:
        Conflict: there is none, or the member is anonymised.
        NotFound: the session sees no such member.
    """
    row = living(session, member_id)
    if row.hold_until is None:
        raise Conflict("not_held", "This member is not held.")
    row.hold_until, row.hold_reason = None, ""
    touch(row, now)
    note(session, actor, row, "released", "The hold of a member ended.")
    return row
