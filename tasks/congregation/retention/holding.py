"""What operators decide about the clock: a hold on somebody, and how long it runs."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation import texts
from tasks.congregation.days import local_day
from tasks.congregation.retention.anonymising import locked_member
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Congregation, Member
from tasks.models.congregation import RETENTION_MONTHS_MAX
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

REASON_MAX: Final = 200  # characters


def hold(
    session: Session,
    member_id: UUID,
    until: date | None,
    reason: str,
    actor: Actor,
    *,
    now: datetime,
) -> Member:
    """Keep a member from being anonymised up to and including a day.  Caller commits.

    Raises:
        NotFound: the session sees no such member.
        InvalidInput: the day is missing, past, or out of range, or no reason is given.
        Conflict: the member is anonymised already.
    """
    member = _known(session, member_id)
    day = texts.some_day(until, "hold_until", what=say("The last day of the hold"))
    why = texts.line(
        reason, "hold_reason", REASON_MAX, what=say("A reason"), required=True
    )
    congregation = session.get_one(Congregation, member.congregation_id)
    if day < local_day(now, congregation.timezone):
        raise InvalidInput(
            "hold_in_past",
            say("This day is over; choose the last day on which nothing is to happen."),
            field="hold_until",
        )
    member.hold_until, member.hold_reason = day, why
    # It is announced again before the hold ends.
    member.noticed_at = None
    _changed(session, member, actor, "held", f"until {day.isoformat()}", now)
    return member


def end_hold(session: Session, member_id: UUID, actor: Actor, *, now: datetime) -> bool:
    """Let the clock run again; ``False``: there was no hold.  Caller commits.

    Raises:
        NotFound: the session sees no such member.
        Conflict: the member is anonymised already.
    """
    member = _known(session, member_id)
    if member.hold_until is None:
        return False
    member.hold_until, member.hold_reason = None, ""
    _changed(session, member, actor, "released", "no more", now)
    return True


def set_months(
    session: Session, congregation_id: UUID, months: int | None, actor: Actor
) -> bool:
    """Say how long who left is kept; ``False``: it was so already.  Caller commits.

    Args:
        months: 1 to ``RETENTION_MONTHS_MAX``.

    Raises:
        NotFound: the session sees no such congregation.
        InvalidInput: the number is missing or out of bounds.
    """
    if months is None or not 1 <= months <= RETENTION_MONTHS_MAX:
        raise InvalidInput(
            "months_out_of_bounds",
            say(
                "Give a whole number of months from 1 to %(max)s.",
                max=str(RETENTION_MONTHS_MAX),
            ),
            field="months",
        )
    row = session.get(Congregation, congregation_id, with_for_update=True)
    if row is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    if row.retention_months == months:
        return False
    before, row.retention_months = row.retention_months, months
    session.flush()
    record(
        session,
        actor,
        "retention.changed",
        Subject("congregation", str(row.id), row.id),
        f"Set the retention of {row.name} to {months} months.",
        before={"retention_months": before},
        after={"retention_months": months},
    )
    return True


def _known(session: Session, member_id: UUID) -> Member:
    member = locked_member(session, member_id)
    if member.anonymised_at is not None:
        raise Conflict("anonymised_already", say("This member is anonymised already."))
    return member


def _changed(
    session: Session,
    member: Member,
    actor: Actor,
    verb: str,
    until: str,
    now: datetime,
) -> None:
    member.version += 1
    member.updated_at = now
    session.flush()
    subject = Subject("member", str(member.id), member.congregation_id)
    # No name: what is known of a person is forgotten with the person.
    summary = f"A member is held back from being anonymised {until}."
    record(session, actor, f"member.{verb}", subject, summary)
