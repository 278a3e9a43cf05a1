"""Whom a congregation does not write to: added, lifted, or by the recipient's click.

Lifting brings back nothing: what was skipped meanwhile stays skipped, and engagements
that came due meanwhile wake nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    STOPS_EVERYTHING,
    Agent,
    Congregation,
    Engagement,
    PassedBecause,
    Suppression,
    SuppressionReason,
)
from tasks.operations.audit import Actor
from tasks.operations.suppression_rows import NOTE_MAX, entry, listed, tell, told
from tasks.outbound.mailboxes import BadAddress, normal_address
from tasks.outreach.scheduling import acknowledge
from tasks.saying import mark, say

#: Who adds an address by the link in a mail.
RECIPIENT: Final = Actor(mark("the recipient"))
#: Reasons that operators can give -> what they read.
BY_HAND: Final[Mapping[SuppressionReason, str]] = {
    SuppressionReason.ASKED: mark("They asked for no mails"),
    SuppressionReason.BOUNCED: mark("The mailbox does not exist"),
    SuppressionReason.COMPLAINED: mark("They called our mail spam"),
}


def suppress(
    session: Session,
    congregation_id: UUID,
    address: str,
    reason: SuppressionReason,
    actor: Actor,
    *,
    agent: str = "",
    note: str = "",
    now: datetime | None = None,
) -> Suppression:
    """Let a congregation write to an address no more.  Caller commits.

    Args:
        agent: the address of the one agent that may not; empty: nobody may.

    Raises:
        NotFound: the session sees no such congregation.
        InvalidInput: it is no address, or the note is too long.
        Conflict: the address is on the list already, for such a reason.
    """
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    note = _checked_note(note)
    normal = _checked_address(address, "address")
    by = _checked_address(agent, "agent") if agent.strip() else ""
    new = entry(congregation_id, normal, reason, actor, agent=by, note=note, now=now)
    row, is_new = listed(session, new)
    if not is_new:
        if row.reason is not SuppressionReason.UNSUBSCRIBED:
            raise Conflict(
                "suppressed_already",
                say("%(address)s is on the list already.", address=normal),
                field="address",
            )
        # Who unsubscribed still got what they had arranged; this goes further.
        row.reason, row.note, row.created_by = reason, note, actor.name
        session.flush()
    tell(session, actor, "suppression.added", row, after=told(row))
    return row


def unsubscribe(
    session: Session, congregation_id: UUID, address: str, *, ip: str | None = None
) -> bool:
    """Note that a recipient wants no more mails; ``False``: it was so already.

    Args:
        address: normalised, as a link of ours says it.

    Raises:
        NotFound: the congregation is gone.
    """
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    actor = Actor(RECIPIENT.name, ip)
    new = entry(congregation_id, address, SuppressionReason.UNSUBSCRIBED, actor)
    row, is_new = listed(session, new)
    if is_new:
        tell(session, actor, "suppression.added", row, after=told(row))
    return is_new


def find(
    session: Session, congregation_id: UUID, address: str, agent: str = ""
) -> Suppression | None:
    """Return what stands there of normalised addresses; ``None``: nothing does."""
    return session.scalars(
        select(Suppression).filter_by(
            congregation_id=congregation_id, address=address, agent=agent
        )
    ).one_or_none()


def goes_further(row: Suppression, reason: SuppressionReason) -> bool:
    """Whether a reason stops more mails than the one that stands there."""
    return row.reason not in STOPS_EVERYTHING and reason in STOPS_EVERYTHING


def unknown_suppression() -> NotFound:
    """Return the refusal of an entry that is not there."""
    return NotFound("unknown_suppression", say("This address is not on the list."))


def lift(
    session: Session,
    suppression_id: UUID,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> Suppression:
    """Take an address off the list, and return what stood there.  Caller commits.

    Raises:
        NotFound: the session sees no such entry.
    """
    row = session.get(Suppression, suppression_id)
    if row is None:
        raise unknown_suppression()
    session.delete(row)
    tell(session, actor, "suppression.lifted", row, before=told(row))
    session.flush()
    acknowledge(
        session, PassedBecause.SUPPRESSED, now or utcnow(), *_engagements_of(row)
    )
    return row


def _engagements_of(row: Suppression) -> Iterator[ColumnElement[bool]]:
    yield Engagement.congregation_id == row.congregation_id
    yield Engagement.address == row.address
    if row.agent:
        by = select(Agent.id).where(
            Agent.congregation_id == row.congregation_id, Agent.address == row.agent
        )
        yield Engagement.agent_id.in_(by)


def _checked_address(text: str, field: str) -> str:
    try:
        return normal_address(text)
    except BadAddress as error:
        raise InvalidInput("email_invalid", str(error), field=field) from error


def _checked_note(note: str) -> str:
    clean = note.strip()
    if len(clean) > NOTE_MAX:
        raise InvalidInput(
            "too_long",
            say("A note has at most %(max)s characters.", max=NOTE_MAX),
            field="note",
        )
    if not clean.isprintable():
        raise InvalidInput(
            "control_chars",
            say("The note holds characters that do not print; type it anew."),
            field="note",
        )
    return clean
